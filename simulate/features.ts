import type { OperatorAction as ActionOfPerson } from '../shared/contract/operator-actions.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import { PLATFORM_FAULTS } from './platform-faults.ts';
import type { AwsAction, ClientAction, CompanyAction, DirectoryAction, Way } from './simulation-run.ts';

/*
 * The features of a run, by the name under which the run log counts them. The compiler requires an entry for each
 * action of a person, each setting, event and fault. So a new one is either drawn, or has a reason here. The faults of
 * a directory that groupsync reads are not features: they occur only in the connection that `--directory` adds.
 */

/** Why no run has this feature. */
interface Without {
  readonly without: string;
}
const without = (reason: string): Without => ({ without: reason });

type Named = Exclude<ActionOfPerson, `read_${string}`>;

/** The actions of people. The simulation names an action by its command. */
const ACTIONS = {
  acknowledge: without('changes only what people see'),
  adopt: ['operator:adopt'],
  block: ['operator:block'],
  connect: ['operator:connect'],
  connections_confirm: ['operator:confirm'],
  connections_erase: without('only the command that ends a company, after which nothing meets'),
  connections_reject: without('changes nothing'),
  connections_remove: ['operator:remove_connection'],
  connections_set: [
    'set:mode',
    'set:onGroupDeleted',
    'set:guard.maxRemovedCount',
    'set:guard.perHourCount',
    'set:includeStates',
    'set:nameTemplate',
    'set:groups.exclude',
    'set:fourEyes',
    'set:groups.policies',
  ],
  console_sessions_end: without('changes no stored group'),
  directory_accept_deletions: without('occurs only in runs with --directory'),
  directory_accepted_deletions: without('the reader records it after directory_accept_deletions'),
  directory_takeover: ['takeover:scim', 'takeover:events'],
  dlq_discard: ['operator:discard_one'],
  dlq_edit: ['operator:edit_one'],
  dlq_replay: ['operator:replay_all'],
  events_send: ['operator:send'],
  forget: ['operator:forget'],
  holds_approve: ['operator:approve'],
  holds_approve_first: without('needs removals that are older than the audit, as only --long has'),
  holds_reject: ['operator:reject'],
  import: ['operator:import', 'operator:undo_import', 'operator:undo'],
  pause: ['operator:pause', 'operator:pause_all', 'operator:observe'],
  probe: without('uses groups of its own'),
  rebind: ['operator:rebind'],
  reconnect: without('connect in a run that has the connection'),
  release: ['operator:release'],
  restated: ['operator:restore', 'operator:restated_all'],
  resume: ['operator:resume', 'operator:resume_all'],
  scim_client_create: ['operator:new_client'],
  scim_client_revoke: without('requests are refused before they reach a group'),
  scim_client_rotate: without('changes a secret only'),
  scim_token_create: ['operator:new_token'],
  scim_token_revoke: without('requests are refused before they reach a group'),
  sync: ['operator:sync'],
  unblock: ['operator:unblock'],
} as const satisfies Readonly<Record<Named, readonly string[] | Without>>;

/** The settings. The first value of a run is a feature of all its groups; a change is a `set:` of `ACTIONS`. */
const SETTINGS = {
  baseUrl: without('each company has one'),
  memberIdField: ['option:memberIdField=id'],
  match: ['option:match'],
  includeStates: ['option:includeStates'],
  people: ['option:people'],
  mode: ['option:mode=additive', 'option:mode=report', 'option:mode=authoritative'],
  onGroupDeleted: ['option:onGroupDeleted=release', 'option:onGroupDeleted=delete'],
  fourEyes: ['option:fourEyes=true'],
  auditReads: without('records reads only'),
  guard: ['option:guard', 'option:guard=off'],
  groups: ['option:groups'],
  nameTemplate: ['option:nameTemplate'],
  activity: without('names of query parameters'),
  scim: without('limits of the SCIM server, which its own tests cover'),
  nested: without('the simulated directories have inner groups in their own tests'),
  concurrency: without('changes the speed only'),
  timeoutMs: without('changes the speed only'),
  directory: without('runs with --directory have such a connection, with its own faults'),
  sources: without('changes only what status shows'),
} as const satisfies Readonly<Record<keyof ConnectionSettings, readonly string[] | Without>>;

type WordsOf<Text> = Text extends `${infer First} ${infer Rest}` ? First | WordsOf<Rest> : Text;

/** Splits a text of words. The compiler requires that the text has every kind, and no other word. */
const all =
  <Kind extends string>() =>
  <Text extends string>(
    text: [WordsOf<Text>, Kind] extends [Kind, WordsOf<Text>] ? Text : Exclude<Kind, WordsOf<Text>>,
  ) =>
    text.split(' ');

const EVENTS = all<DirectoryAction['kind']>()('name delete join leave snapshot profile forget wide rubbish');
const WAYS = all<Way['form']>()('native sns eventbridge okta scim_request');
const OF_COMPANY = all<CompanyAction['kind']>()(
  'hire readdress renumber change_user_id terminate activate erase lose_user_id',
);
const OF_CLIENTS = all<ClientAction['kind']>()('edit delete recreate strip twin own');
const OF_AWS = all<AwsAction['kind']>()('crash throttled unheard echo queue_refuses slow_table skew twins');

const namesIn = (table: Readonly<Record<string, readonly string[] | Without>>): readonly string[] =>
  Object.values(table).flatMap((entry) => ('without' in entry ? [] : entry));

/** All features. An option is in effect from the beginning of a run, so it is never the second of a pair. */
const OPTIONS = namesIn(SETTINGS);
export const FEATURES: readonly string[] = [
  ...namesIn(ACTIONS),
  ...EVENTS.map((kind) => `directory:${kind}`),
  ...WAYS.map((form) => `way:${form}`),
  ...OF_COMPANY.map((kind) => `company:${kind}`),
  ...OF_CLIENTS.map((kind) => `client:${kind}`),
  ...OF_AWS.map((kind) => `aws:${kind}`),
  ...Object.keys(PLATFORM_FAULTS).map((name) => `platformFault:${name}`),
];

const STATES =
  /^(?:takeover:.*|operator:(?:approve|reject|pause|pause_all|observe|adopt|release|block)|set:(?:mode|groups\.(?:exclude|policies)))$/;
const REMOVALS =
  /^(?:directory:(?:leave|delete|snapshot|forget)|company:(?:terminate|erase)|operator:(?:block|import|undo))$/;

/** Features with state: a decision, a pause, an adoption, the end of a link, a block, or another mode. */
export const hasState = (feature: string): boolean => STATES.test(feature);
/** Features after which a user must leave a group. */
export const removes = (feature: string): boolean => REMOVALS.test(feature);

/** Pairs that cannot meet, with the reason. A second person reviews each line. */
const IMPOSSIBLE: readonly (readonly [first: RegExp, second: RegExp, why: string])[] = [
  [/^directory:rubbish$/, /./, 'the message has no group'],
  [/./, /^directory:rubbish$/, 'the message has no group'],
  [/^operator:(?:connect|remove_connection)$/, /:token_expires$/, 'the new token does not expire'],
  [/^option:fourEyes=true$/, /^operator:remove_connection$/, 'the command is refused while four eyes is on'],
];

/** Whether two features can meet, in this order. */
const canMeet = (first: string, second: string): boolean =>
  first !== second &&
  !second.startsWith('option:') &&
  !IMPOSSIBLE.some(([a, b]) => a.test(first) && b.test(second));

/** Returns every ordered pair of features that can meet, as `FIRST > SECOND`. */
export const possiblePairs = (): readonly string[] =>
  [...FEATURES, ...OPTIONS].flatMap((first) =>
    FEATURES.filter((second) => canMeet(first, second)).map((second) => `${first} > ${second}`),
  );

/** The features that a connection's first settings switch on. */
export function optionsOf(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.entries(settings).flatMap(([key, value]) => [
    `option:${key}`,
    value === null ? `option:${key}=off` : `option:${key}=${String(value)}`,
  ]);
  return OPTIONS.filter((option) => names.includes(option));
}
