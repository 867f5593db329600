import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import { okta } from '../../../directory-simulator/okta/dialect.ts';
import { CUSTOMER_KEY } from '../keys.ts';
import { NOW_MS, type Options, startSimulated } from '../simulated.ts';

export { NOW_MS } from '../simulated.ts';

const HOST = '127.0.0.1:8080';
const CREATED = { createdAtMs: Date.UTC(2024, 0, 1) };

/** An org with a user of each status and a group of each type. The group Sales contains all these users. */
const WORLD: WorldInput = {
  users: [
    { id: '00uliz', primaryEmail: 'liz@example.com', givenName: 'Liz', familyName: 'Ng', isAdmin: true },
    { id: '00ustaged', primaryEmail: 'staged@example.com', vendorFields: { status: 'STAGED' } },
    { id: '00uprov', primaryEmail: 'prov@example.com', vendorFields: { status: 'PROVISIONED' } },
    { id: '00urec', primaryEmail: 'rec@example.com', vendorFields: { status: 'RECOVERY' } },
    { id: '00ulock', primaryEmail: 'lock@example.com', vendorFields: { status: 'LOCKED_OUT' } },
    { id: '00uexp', primaryEmail: 'exp@example.com', vendorFields: { status: 'PASSWORD_EXPIRED' } },
    { id: '00usus', primaryEmail: 'sus@example.com', suspended: true },
    { id: '00udep', primaryEmail: 'dep@example.com', archived: true },
    { id: '00uann', primaryEmail: 'ann@example.com', vendorFields: { login: 'ann@login.example' } },
    { id: '00udel', primaryEmail: 'del@example.com', deletedAtMs: NOW_MS - 3_600_000 },
  ].map((user) => ({ ...user, ...CREATED })),
  groups: [
    {
      id: '00gsales',
      name: 'Sales',
      description: 'People who sell',
      members: [
        ...['00uliz', '00ustaged', '00uprov', '00urec', '00ulock', '00uexp', '00usus', '00udep'].map(
          (member) => ({ member }),
        ),
      ],
    },
    {
      id: '00gapp',
      name: 'Engineering Users',
      vendorFields: { type: 'APP_GROUP' },
      members: [{ member: '00uann' }],
    },
    { id: '00gnone', name: 'Empty' },
    {
      id: '00gall',
      name: 'Everyone',
      vendorFields: { type: 'BUILT_IN' },
      members: [{ member: 'all', kind: 'everyone' as const }],
    },
    { id: '00ggone', name: 'Gone', deletedAtMs: NOW_MS - 1_000 },
  ].map((group) => ({ ...group, email: `${group.id}@group.example`, ...CREATED })),
};

/** Starts an Okta org. */
export function startOkta({
  world = WORLD,
  orgUrl,
  ...options
}: Options & { readonly orgUrl?: string } = {}) {
  return startSimulated(okta({ clientKey: CUSTOMER_KEY, orgUrl }), { world, ...options }, HOST);
}
