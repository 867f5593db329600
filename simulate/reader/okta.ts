import { sign } from 'node:crypto';
import { okta } from '../../directory-simulator/okta/dialect.ts';
import { openDirectory } from '../../shared/directory/vendors/directories.ts';
import { keyIdOf } from '../../shared/directory/vendors/okta/sign-in.ts';
import { BASE_URL, customerKey, type Question, type SourceVendor } from './vendor.ts';

const QUESTIONS: Readonly<Record<string, Question>> = {
  listLogEvents: 'changes',
  listGroups: 'groups',
  getGroup: 'group',
  listGroupUsers: 'members',
  listUsers: 'users',
  getUser: 'user',
};

interface Client {
  readonly clientId: string;
  readonly apiToken: string;
  readonly key: { readonly kty: string; readonly n: string; readonly e: string };
}

interface CountedGroup {
  readonly _embedded?: { readonly stats?: { readonly usersCount?: number } };
}

/** The group of all users. */
const EVERYONE = 'k4';

const linkOf = (rel: string, url: string): string => `<${url}>; rel="${rel}"`;
const isNext = (link: string): boolean => link.endsWith('rel="next"');

export const oktaSource: SourceVendor<'okta'> = {
  settingFrom(random) {
    const isApplication = random.chance(0.5);
    const application = { clientId: 'application', keyArn: 'arn:aws:kms:us-east-1:111111111111:key/reader' };
    return { kind: 'okta', orgUrl: BASE_URL, ...(isApplication && application) };
  },
  ownObjects: {
    userFields: [{}, { status: 'STAGED' }, { status: 'LOCKED_OUT' }, { login: 'short.login@login.test' }],
    groupFields: {
      k1: { vendorFields: { type: 'APP_GROUP' } },
      [EVERYONE]: {
        name: 'Everyone',
        vendorFields: { type: 'BUILT_IN' },
        members: [{ member: 'everyone', kind: 'everyone' }],
      },
    },
  },
  ownFaults: ['drops_links', 'limits_role'],
  nests: false,
  restores: false,
  deactivatesFirst: true,
  fixedGroup: EVERYONE,
  dialect: () => okta({ clientKey: customerKey() }),
  questionOf: (operation) => QUESTIONS[operation] ?? 'token',
  cursorOf: (url) => (url.searchParams.has('after') ? url.href : undefined),
  errors: {
    quota_429: 'tooManyRequests',
    answers_503: 'serviceUnavailable',
    denies_401: 'invalidToken',
    denies_403: 'accessDenied',
    missing: 'notFound',
  },

  pageIn({ body, headers }) {
    if (!Array.isArray(body)) return undefined;
    const link = [headers['link'] ?? []].flat().find(isNext) ?? '';
    return { items: body, next: /^<(.*)>/.exec(link)?.[1] };
  },

  withPage({ headers }, { items, next }) {
    const links = [headers['link'] ?? []].flat().filter((link) => !isNext(link));
    const link = next === undefined ? links : [...links, linkOf('next', next)];
    return { headers: { ...headers, link }, body: items };
  },

  withCount(group, countOf) {
    const { _embedded: embedded, ...rest } = group as CountedGroup;
    const { usersCount, ...stats } = embedded?.stats ?? {};
    if (usersCount === undefined) return group;
    const count = countOf(usersCount);
    return { ...rest, _embedded: { stats: count === undefined ? stats : { ...stats, usersCount: count } } };
  },

  rights: {
    control: 'administrator',
    bodyOf: (active) => ({ resourceSet: active('limits_role')?.about ?? null }),
  },

  distort(content, strikes) {
    if (content.headers['link'] === undefined || !strikes('drops_links')) return content;
    const { link: _, ...headers } = content.headers;
    return { ...content, headers };
  },

  /** Signs without a thread, as with KMS. A thread ends at a random time and would make the run unrepeatable. */
  async open(setting, control, world) {
    const { clientId, apiToken, key } = control('client') as Client;
    const { keyArn } = setting;
    if (keyArn === undefined) return openDirectory({ ...setting, orgUrl: BASE_URL }, { apiToken }, world);
    const { kty, n, e } = key;
    control('keys', { keys: [{ kty, n, e, kid: keyIdOf(keyArn) }] });
    const kmsSign = async (_: string, message: Uint8Array) => sign('RSA-SHA256', message, customerKey());
    return openDirectory({ ...setting, orgUrl: BASE_URL, clientId }, undefined, { ...world, kmsSign });
  },
};
