import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import { READ_ALL } from '../../directory-simulator/google/scopes.ts';
import { JWT_BEARER, serviceAccountAssertion } from './assertion.ts';
import { CUSTOMER_KEY, MANAGED_KEY } from './keys.ts';
import { NOW_MS, type Options, startSimulated } from './simulated.ts';

export { NOW_MS } from './simulated.ts';

export const ADMIN = 'liz@example.com';

/** A directory with one user and one member of each kind. */
const WORLD: WorldInput = {
  customerId: 'C03az79cb',
  domain: 'example.com',
  users: [
    { id: 'u-liz', primaryEmail: ADMIN, givenName: 'Liz', familyName: 'Ng', isAdmin: true },
    { id: 'u-ann', primaryEmail: 'ann@example.com', aliases: ['a@example.com'], givenName: 'Ann' },
    { id: 'u-sue', primaryEmail: 'sue@example.com', suspended: true },
    { id: 'u-art', primaryEmail: 'art@example.com', archived: true },
    { id: 'u-del', primaryEmail: 'del@example.com', deletedAtMs: NOW_MS - 3_600_000 },
    { id: 'u-old', primaryEmail: 'old@example.com', deletedAtMs: NOW_MS - 21 * 86_400_000 },
  ],
  groups: [
    {
      id: 'g-sales',
      email: 'sales@example.com',
      aliases: ['verkauf@example.com'],
      name: 'Sales',
      description: 'People who sell',
      members: [
        { member: ADMIN, role: 'OWNER' },
        { member: 'u-sue' },
        { member: 'u-art' },
        { member: 'guest@partner.example' },
        { member: 'g-emea' },
      ],
    },
    { id: 'g-emea', email: 'emea@example.com', name: 'EMEA', members: [{ member: 'u-ann' }] },
    { id: 'g-all', email: 'all@example.com', name: 'All', members: [{ member: 'all', kind: 'everyone' }] },
    { id: 'g-none', email: 'none@example.com', name: 'Empty' },
    { id: 'g-gone', email: 'gone@example.com', name: 'Gone', deletedAtMs: NOW_MS - 1_000 },
  ],
};

/** Starts a Google directory. */
export function startGoogle({ world = WORLD, ...options }: Options = {}) {
  const dialect = google({ customerKey: CUSTOMER_KEY, managedKey: MANAGED_KEY });
  const simulated = startSimulated(dialect, { world, ...options });
  const { clock, send } = simulated;
  const signIn = () =>
    send('POST /token', {
      body: new URLSearchParams({
        grant_type: JWT_BEARER,
        assertion: serviceAccountAssertion(clock.ms, { sub: ADMIN, scope: READ_ALL.join(' ') }),
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  let token: string | undefined;
  /** Sends a GET to the Directory API, with a token of the administrator. */
  const get = async (path: string) => {
    token ??= (await signIn()).json.access_token as string;
    return send(`GET /admin/directory/v1/${path}`, { token });
  };
  return { ...simulated, signIn, get };
}
