import type { ConnectionSettings } from './settings.ts';

/**
 * How an action of a person may cause removals:
 *
 *     value   | the action
 *     --------|----------------------------------------------------------------------------
 *     event   | sends events, or lets a client send them
 *     source  | changes what the reader reports, or which source owns a group
 *     plan    | changes which users a group must have, or which platform group it has
 *     setting | depends on the changed settings (`mayRemoveBySetting`)
 *     no      | is declared harmless
 */
type MayRemove = 'event' | 'source' | 'plan' | 'setting' | 'no';

/**
 * Every kind of action of a person. Four eyes searches only the actions that may cause removals. A stored kind that is
 * missing here counts as `plan`, because it may be of another release.
 */
const MAY_REMOVE = {
  acknowledge: 'no',
  adopt: 'plan', // removes the users of the platform group that the directory does not want
  block: 'plan',
  connect: 'plan', // another credential or company may show other employees and groups
  connections_confirm: 'setting',
  connections_erase: 'plan', // a later connection of this name begins with other settings and facts
  connections_reject: 'no',
  connections_remove: 'plan',
  connections_set: 'setting',
  console_sessions_end: 'no',
  directory_accept_deletions: 'source', // the reader then reports the deletion of the missing groups
  directory_accepted_deletions: 'source',
  directory_takeover: 'source',
  dlq_discard: 'plan', // an addition that never arrives leaves its user unwanted
  dlq_edit: 'event',
  dlq_replay: 'event',
  events_send: 'event',
  forget: 'plan', // the memberships of the person are no longer known
  holds_approve: 'no', // decides about removals that others caused
  holds_approve_first: 'no',
  holds_reject: 'no',
  import: 'event',
  pause: 'no', // only delays writes; the causes of the removals are older
  probe: 'no', // uses groups of its own
  rebind: 'plan', // the earlier person of the member is no longer wanted
  reconnect: 'plan',
  release: 'no', // the platform group stays as it is
  restated: 'plan', // accepts outdated registers, which lack members that joined since
  resume: 'no',
  scim_client_create: 'event', // the client of the credential may remove members
  scim_client_revoke: 'no',
  scim_client_rotate: 'event',
  scim_token_create: 'event',
  scim_token_revoke: 'no',
  sync: 'no', // writes only what apply would write later
  unblock: 'no',
} as const satisfies Readonly<Record<string, MayRemove>>;

/** The prefix of the actions that record who read data of people (setting `auditReads`). They are harmless. */
export const READ = 'read_';

export type OperatorAction = keyof typeof MAY_REMOVE | `${typeof READ}${string}`;

export function mayRemoveBy(action: string): MayRemove {
  if (action.startsWith(READ)) return 'no';
  const known: Readonly<Record<string, MayRemove | undefined>> = MAY_REMOVE;
  return known[action] ?? 'plan';
}

/**
 * The settings that cannot cause a removal: `guard` and `fourEyes` only permit or stop removals, and the others affect
 * calls, records and checks. `unblock` is the confirmed end of a block, and `observing` only delays writes. The creators
 * of a token (`scim_token`) count by its requests.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...([
    'activity',
    'auditReads',
    'concurrency',
    'fourEyes',
    'guard',
    'scim',
    'sources',
    'timeoutMs',
  ] satisfies readonly (keyof ConnectionSettings)[]),
  'observing',
  'scim_token',
  'unblock',
]);

/** The settings that decide what the reader reports. */
const OF_READER: ReadonlySet<string> = new Set([
  'directory',
  'nested',
] satisfies readonly (keyof ConnectionSettings)[]);

/** Returns how a change of a setting may cause removals. A setting that is not declared harmless counts. */
export function mayRemoveBySetting(key: string): 'source' | 'plan' | 'no' {
  if (HARMLESS.has(key)) return 'no';
  return OF_READER.has(key) ? 'source' : 'plan';
}
