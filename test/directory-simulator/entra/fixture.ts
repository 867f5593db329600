import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import { CLIENT_ID } from '../../../directory-simulator/entra/application.ts';
import { entra } from '../../../directory-simulator/entra/dialect.ts';
import { NOW_MS, type Options, startSimulated } from '../simulated.ts';

export { NOW_MS } from '../simulated.ts';

const DAY_MS = 86_400_000;
export const TENANT = '22222222-bbbb-4000-8000-000000000002';
export const SECRET = 'simulated-client-secret';

/** A directory with one user, group and member of each kind. */
const WORLD: WorldInput = {
  customerId: TENANT,
  domain: 'contoso.example',
  users: [
    { id: 'u-liz', primaryEmail: 'liz@contoso.example', givenName: 'Liz', familyName: 'Ng' },
    { id: 'u-ann', primaryEmail: 'ann@contoso.example', givenName: 'Ann', aliases: ['a@contoso.example'] },
    { id: 'u-sue', primaryEmail: 'sue@contoso.example', suspended: true },
    { id: 'u-gus', primaryEmail: 'gus@partner.example', vendorFields: { userType: 'Guest' } },
    { id: 'u-del', primaryEmail: 'del@contoso.example', deletedAtMs: NOW_MS - DAY_MS },
    { id: 'u-old', primaryEmail: 'old@contoso.example', deletedAtMs: NOW_MS - 31 * DAY_MS },
  ],
  groups: [
    {
      id: 'g-sales',
      email: 'sales@contoso.example',
      name: 'Sales',
      description: 'People who sell',
      members: [
        { member: 'u-liz' },
        { member: 'u-sue' },
        { member: 'u-gus' },
        { member: 'u-del', kind: 'user' },
        { member: 'g-emea' },
        { member: 'd-laptop', kind: 'device' },
        { member: 's-robot', kind: 'servicePrincipal' },
      ],
    },
    { id: 'g-emea', email: 'emea@contoso.example', name: 'EMEA', members: [{ member: 'u-ann' }] },
    {
      id: 'g-team',
      email: 'team@contoso.example',
      name: 'Team',
      vendorFields: { groupTypes: ['Unified'] },
      members: [{ member: 'u-ann' }],
    },
    {
      id: 'g-hidden',
      email: 'hidden@contoso.example',
      name: 'Hidden',
      vendorFields: { groupTypes: ['Unified'], visibility: 'HiddenMembership' },
      members: [{ member: 'u-liz' }],
    },
    {
      id: 'g-rule',
      email: 'rule@contoso.example',
      name: 'Rule',
      vendorFields: { groupTypes: ['DynamicMembership'] },
    },
    { id: 'g-none', email: 'none@contoso.example', name: 'Empty' },
  ],
};

/** Starts an Entra directory. */
export function startEntra({ world = WORLD, ...options }: Options = {}) {
  const simulated = startSimulated(entra(), { world, ...options }, '127.0.0.1');
  const { clock, send, control } = simulated;
  /** Sends a request with the client secret to the token endpoint. */
  const signIn = () =>
    send(`POST /${TENANT}/oauth2/v2.0/token`, {
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: CLIENT_ID,
        scope: 'https://graph.microsoft.com/.default',
        client_secret: SECRET,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  /** Advances the clock by one second, makes the changes, and advances the clock by another second. */
  const change = async (...changes: unknown[]) => {
    clock.ms += 1_000;
    const answer = await control('changes', changes);
    clock.ms += 1_000;
    return answer;
  };
  return { ...simulated, signIn, change };
}

export const EVENTUAL = { consistencylevel: 'eventual' };

export interface Item {
  readonly id: string;
  readonly displayName?: string;
  readonly '@odata.type'?: string;
  readonly '@removed'?: { readonly reason: string };
  readonly 'members@delta'?: readonly Item[];
}

export const idsOf = (items: readonly { readonly id: string }[]) =>
  [...new Set(items.map(({ id }) => id))].toSorted();
