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
 *
 *     kind                                   | why
 *     ---------------------------------------|----------------------------------------------------------------------
 *     acknowledge, console_sessions_end,     | removes no membership
 *     connections_reject, probe, release,    |
 *     scim_…_revoke, unblock                 |
 *     adopt                                  | removes the users of the platform group that the directory does not want
 *     block                                  | removes the person from every group
 *     connect, reconnect                     | another credential or company may show other employees and groups
 *     connections_set, connections_confirm   | each setting decides
 *     connections_remove, connections_erase  | a later connection of this name begins with other settings and facts
 *     directory_…                            | the reader reports deletions, or another source owns the group
 *     dlq_discard                            | an addition that never arrives leaves its user unwanted
 *     dlq_edit, dlq_replay, events_send,     | the events may remove members
 *     import                                 |
 *     forget                                 | the person's memberships are no longer known
 *     holds_approve(_first), holds_reject    | decides about removals that others caused
 *     pause, resume, sync                    | only delays or hastens writes; the causes of the removals are older
 *     rebind                                 | the earlier person of the member is no longer wanted
 *     scim_client_create, scim_client_rotate,| the client of the credential may remove members
 *     scim_token_create                      |
 */
const MAY_REMOVE = {
  acknowledge: 'no',
  adopt: 'plan',
  block: 'plan',
  connect: 'plan',
  connections_confirm: 'setting',
  connections_erase: 'plan',
  connections_reject: 'no',
  connections_remove: 'plan',
  connections_set: 'setting',
  console_sessions_end: 'no',
  directory_accept_deletions: 'source',
  directory_accepted_deletions: 'source',
  directory_takeover: 'source',
  dlq_discard: 'plan',
  dlq_edit: 'event',
  dlq_replay: 'event',
  events_send: 'event',
  forget: 'plan',
  holds_approve: 'no',
  holds_approve_first: 'no',
  holds_reject: 'no',
  import: 'event',
  pause: 'no',
  probe: 'no',
  rebind: 'plan',
  reconnect: 'plan',
  release: 'no',
  resume: 'no',
  scim_client_create: 'event',
  scim_client_revoke: 'no',
  scim_client_rotate: 'event',
  scim_token_create: 'event',
  scim_token_revoke: 'no',
  sync: 'no',
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
