import { expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { CRASH_POINTS, crashPoints } from '../../simulate/draw-crashes.ts';
import {
  DAY_MS,
  type LambdaName,
  originalName,
  type SimulationRun,
  type Way,
} from '../../simulate/simulation-run.ts';

const SEEDS = Array.from({ length: 300 }, (_, index) => index + 1);

function furtherNamesOf({ form, lateMs, eventId }: Way): readonly string[] {
  const late = form === 'scim_request' && lateMs > 0 ? ['scim_late'] : [];
  return eventId === undefined ? late : [...late, 'equal_stamps'];
}

function namesIn({ connections, happenings, coalesceSeconds }: SimulationRun): readonly string[] {
  return [
    `window:${coalesceSeconds}`,
    `connections:${connections.length}`,
    ...(connections.some(({ isLater }) => isLater) ? ['returned'] : []),
    `companies:${new Set(connections.map(({ company }) => company)).size}`,
    ...connections.flatMap(({ traits, settings, credential }) => [
      `credential:${credential}`,
      ...Object.entries(traits).map(
        ([key, value]) => `${key}:${typeof value === 'number' && key !== 'staleStatus' ? value > 0 : value}`,
      ),
      ...Object.entries(settings).map(
        ([key, value]) => `${key}:${typeof value === 'string' ? value : 'given'}`,
      ),
    ]),
    ...happenings.flatMap((one) => {
      const { actor, action } = one;
      if (actor === 'platform') return [action.platformFault];
      if (action.kind === 'directoryFault') return [action.directoryFault];
      if (actor === 'directory') {
        const { form, time, copies, lateMs } = one.way;
        const parts = action.kind === 'snapshot' && action.parts > 1 ? ['parts'] : [];
        return [
          ...furtherNamesOf(one.way),
          action.kind,
          form,
          time,
          `copies:${copies > 1}`,
          `days late:${lateMs > DAY_MS}`,
          ...parts,
        ];
      }
      if (actor === 'aws' && action.kind === 'crash') return [`crash ${action.lambda} ${action.effect}`];
      return [`${actor}:${action.kind}`, ...('again' in action && action.again ? ['war'] : [])];
    }),
  ];
}

const runs = SEEDS.map((seed) => drawRun(seed, { directory: seed % 5 === 0 }));

it('300 simulation runs contain every platform fault, action, way, trait, fault and crash point', () => {
  const met = new Set(runs.flatMap(namesIn));
  const expected = `
    returned window:0 window:5 window:60 connections:2 connections:3 companies:1 companies:2 companies:3 credential:static credential:oauth
    staleStatus:409 staleStatus:412 staleStatus:400 staleStatus:422 enforceVersionOnPatch:false echoSpokeId:false names:trimmed
    names:folded uniqueNames:true installer:null installer:u-installer listLagMs:true getLagMs:true feedLagMs:true endOfFeed:same
    endOfFeed:null endOfFeed:absent endOfFeed:empty feedEnvelope:flat emptyFeedPage:nullEvents emptyFeedPage:nullData
    spokeIds:folded longestName:null longestName:true numericVersions:true mode:additive mode:report
    onGroupDeleted:release memberIdField:id groups:given nameTemplate:{name}
    refuses_name refuses_spoke_id answers_lag answers_lack_users answers_404 deletes_ignored list_cut
    drops_users keeps_users refuses_user_422 answers_other_group answers_html answers_half list_denies get_denies
    list_shows_odd_group list_times_out writes_503 writes_403 writes_302 everything_503 throttles
    slow loses_answers late_writes wrong_route token_revoked token_expires feed_twice feed_missing
    feed_new_kind feed_malformed feed_forgets refuses_connection
    name delete join leave snapshot parts profile forget wide rubbish native sns eventbridge okta scim_request
    exact whole_second none future copies:true
    company:hire company:readdress company:terminate company:activate company:erase company:lose_user_id company:change_user_id
    company:renumber equal_stamps scim_late match:given operator:forget
    client:edit client:delete client:recreate client:strip client:twin client:own war
    operator:approve operator:reject operator:pause operator:resume operator:release operator:adopt operator:sync
    operator:pause_all operator:resume_all operator:observe operator:rebind operator:set operator:remove_connection
    operator:connect operator:replay_all operator:discard_one operator:edit_one operator:new_token
    operator:new_client operator:confirm operator:reject_requests operator:send operator:takeover
    operator:import operator:undo_import operator:undo
    source:addMember source:removeMember source:suspendUser source:unsuspendUser source:archiveUser source:addGroup
    source:deleteGroup source:changeGroup source:deleteUser source:addUser source:undeleteUser source:purgeUser
    source:undeleteGroup quota_403 quota_429 answers_503 breaks_off answers_empty_json
    ends_early shows_no_members repeats_page_token page_tokens_end hides_group lists_few counts_too_many denies_401
    denies_403 token_ends log_silent delta_ends hides_membership hides_users drops_links limits_role
    aws:throttled aws:unheard aws:echo aws:queue_refuses aws:slow_table aws:skew aws:twins`
    .trim()
    .split(/\s+/);
  const crashes = (Object.keys(CRASH_POINTS) as LambdaName[]).flatMap((lambda) =>
    crashPoints(lambda).map((effect) => `crash ${lambda} ${effect}`),
  );
  const missing = [...expected, ...crashes, 'days late:true'].filter(
    (name) => ![...met].some((one) => one === name || (name.endsWith('{name}') && one.startsWith(name))),
  );
  expect(missing).toEqual([]);
});

it('two connections of one company that exist at the same time have no directory group in common', () => {
  const shared: string[] = [];
  for (const { connections, happenings, seed } of runs) {
    const owners = new Map<string, string>();
    for (const { connection, actor, action } of happenings) {
      if (actor !== 'directory' || !('group' in action)) continue;
      const company = connections.find(({ name }) => name === connection)?.company;
      const group = `${company} ${action.group}`;
      const owner = owners.get(group) ?? connection;
      if (originalName(connection) !== originalName(owner)) shared.push(`${action.group} in run ${seed}`);
      owners.set(group, owner);
    }
  }
  expect(shared).toEqual([]);
});
