import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import { entra } from '../../directory-simulator/entra/dialect.ts';
import { READ_ALL, READ_HIDDEN_MEMBERS, READ_USERS } from '../../directory-simulator/entra/rights.ts';
import { ENTRA_CLOUDS } from '../../shared/contract/entra-clouds.ts';
import { openDirectory } from '../../shared/directory/vendors/directories.ts';
import { EXTERNAL } from './draw-world.ts';
import { BASE_URL, type Question, type SourceVendor } from './vendor.ts';

const SECRET = 'client-secret';

const QUESTIONS: Readonly<Record<string, Question>> = {
  'group.list': 'groups',
  'group.get': 'group',
  'group.delta': 'changes',
  'user.delta': 'changes',
  'user.list': 'users',
  'user.get': 'user',
};

const NEXT = '@odata.nextLink';
const DELTA = '@odata.deltaLink';
const COUNT = '@odata.count';

interface List {
  readonly value?: readonly unknown[];
  readonly [NEXT]?: string;
  readonly [DELTA]?: string;
  readonly [COUNT]?: number;
}

export const entraSource: SourceVendor<'entra'> = {
  settingFrom: (random) => ({
    kind: 'entra',
    tenant: 'd.test',
    clientId: CLIENT_ID,
    cloud: random.pick(ENTRA_CLOUDS),
  }),
  ownObjects: {
    userFields: [{}, { userType: 'Guest' }, { mail: null }],
    users: [{ id: 'guest', primaryEmail: EXTERNAL, vendorFields: { userType: 'Guest' } }],
    groupFields: {
      k1: { vendorFields: { groupTypes: ['DynamicMembership'] } },
      k4: { vendorFields: { groupTypes: ['Unified'], visibility: 'HiddenMembership' } },
      k5: { vendorFields: { groupTypes: ['Unified'] } },
    },
    members: {
      k0: [{ member: 'device', kind: 'device' }],
      k1: [{ member: 'principal', kind: 'servicePrincipal' }],
      // This group contains a group that contains this group.
      k2: [{ member: 'k5' }],
      k3: [{ member: 'guest' }],
    },
  },
  ownFaults: ['delta_ends', 'hides_membership', 'hides_users'],
  nests: true,
  restores: true,
  deactivatesFirst: false,
  dialect: () => entra(),
  questionOf(operation) {
    if (operation.startsWith('group.members.list')) return 'members';
    return QUESTIONS[operation] ?? 'token';
  },
  cursorOf: (url) => (url.searchParams.has('$skiptoken') ? url.href : undefined),
  errors: {
    quota_429: 'tooManyRequests',
    answers_503: 'serviceNotAvailable',
    denies_401: 'invalidAuthenticationToken',
    denies_403: 'authorizationRequestDenied',
    missing: 'resourceNotFound',
  },

  pageIn({ body }) {
    const { value, [NEXT]: next, [COUNT]: count } = body as List;
    return value && { items: value, next, count };
  },

  /** The link to later changes ends a list. So a page with a link to a next page has no link to later changes. */
  withPage({ body, headers }, { items, next, count }) {
    const { [NEXT]: _, [DELTA]: deltaLink, [COUNT]: __, ...rest } = body as List;
    const counted = count === undefined ? {} : { [COUNT]: count };
    const ended = deltaLink === undefined ? {} : { [DELTA]: deltaLink };
    const link = next === undefined ? ended : { [NEXT]: next };
    return { headers, body: { ...rest, ...counted, ...link, value: items } };
  },

  withCount: (group) => group,

  rights: {
    control: 'rights',
    bodyOf(active) {
      const isLost = (role: string) =>
        (role === READ_HIDDEN_MEMBERS && active('hides_membership') !== undefined) ||
        (role === READ_USERS && active('hides_users') !== undefined);
      return { roles: READ_ALL.filter((role) => !isLost(role)) };
    },
  },

  open(setting, control, world) {
    control('client-secret', { secret: SECRET });
    control('cloud', { cloud: setting.cloud });
    return openDirectory({ ...setting, baseUrl: BASE_URL }, { clientSecret: SECRET }, world);
  },
};
