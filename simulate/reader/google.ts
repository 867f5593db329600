import { sign } from 'node:crypto';
import { google } from '../../directory-simulator/google/dialect.ts';
import type { AssertionClaims, GoogleCredential } from '../../shared/directory/vendors/google/credential.ts';
import type { ServiceAccountKey } from '../../shared/directory/vendors/google/schemas.ts';
import { createGoogleDirectory } from '../../shared/directory/vendors/google/vendor.ts';
import { ADMINISTRATOR, EXTERNAL } from './draw-world.ts';
import { BASE_URL, customerKey, type Question, type SourceVendor } from './vendor.ts';

const QUESTIONS: Readonly<Record<string, Question>> = {
  'oauth2.token': 'token',
  'reports.activities.list': 'changes',
  'directory.groups.list': 'groups',
  'directory.groups.get': 'group',
  'directory.members.list': 'members',
  'directory.members.get': 'member',
  'directory.users.list': 'users',
  'directory.users.get': 'user',
};

/** For each `kind` of list, the field that contains the items of the list. */
const FIELDS: Readonly<Record<string, string>> = {
  'admin#directory#groups': 'groups',
  'admin#directory#members': 'members',
  'admin#directory#users': 'users',
  'reports#activities': 'items',
};

type List = Readonly<Record<string, unknown>> & {
  readonly kind?: string;
  readonly nextPageToken?: string;
};

const fieldOf = (body: unknown): string | undefined => FIELDS[(body as List | undefined)?.kind ?? ''];

export const googleSource: SourceVendor<'google'> = {
  settingFrom: () => ({ kind: 'google', administrator: ADMINISTRATOR }),
  ownObjects: { members: { k3: [{ member: EXTERNAL }] } },
  ownFaults: ['quota_403'],
  nests: true,
  restores: false,
  deactivatesFirst: false,
  dialect: () => google({ customerKey: customerKey() }),
  questionOf: (operation) => QUESTIONS[operation] ?? 'token',
  cursorOf: ({ searchParams }) => searchParams.get('pageToken') ?? undefined,
  errors: {
    quota_403: 'quotaExceeded',
    quota_429: 'rateLimitExceeded',
    answers_503: 'backendError',
    denies_401: 'authError',
    denies_403: 'forbidden',
    missing: 'notFound',
  },

  pageIn({ body }) {
    const field = fieldOf(body);
    if (field === undefined) return undefined;
    const list = body as List;
    return { items: (list[field] ?? []) as readonly unknown[], next: list.nextPageToken };
  },

  /** A list without items has no field for items. */
  withPage({ body, headers }, { items, next }) {
    const field = fieldOf(body) ?? 'items';
    const { [field]: _, nextPageToken: __, ...rest } = body as List;
    const shown = items.length === 0 ? rest : { ...rest, [field]: items };
    return { headers, body: next === undefined ? shown : { ...shown, nextPageToken: next } };
  },

  withCount(group, countOf) {
    const { directMembersCount: count, ...rest } = group as { readonly directMembersCount?: string };
    if (count === undefined) return group;
    const shown = countOf(Number(count));
    return shown === undefined ? rest : { ...rest, directMembersCount: String(shown) };
  },

  async open({ administrator }, control, world) {
    const key = control('service-account-key', { url: BASE_URL }) as ServiceAccountKey;
    return createGoogleDirectory({ credential: credentialOf(key), administrator, baseUrl: BASE_URL }, world);
  },
};

/** Signs without a thread, because a thread ends at a random time and would make the run unrepeatable. */
const credentialOf = ({
  client_email,
  private_key,
  private_key_id,
}: ServiceAccountKey): GoogleCredential => ({
  account: client_email,
  async sign(claims: AssertionClaims) {
    const parts = [{ alg: 'RS256', typ: 'JWT', kid: private_key_id }, claims];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), private_key).toString('base64url')}`;
  },
});
