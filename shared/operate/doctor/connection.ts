import type { Check } from '../../contract/answers/connect.ts';
import { DirectoryExamination, type DirectoryStepRow } from '../../contract/answers/directory.ts';
import type { SourceReport } from '../../contract/answers/status.ts';
import type { DirectorySetting } from '../../contract/directory-settings.ts';
import { fixOfStep } from '../../directory/operate/guides/index.ts';
import { groupsOfReader } from '../../directory/operate/reader-groups.ts';
import { duration } from '../../domain/duration.ts';
import { holdsOf } from '../../domain/hold.ts';
import { otherLinkedGroup } from '../../sync/gate.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { type Connection, problemsOf, repairOf } from '../../sync/ports/connections.ts';
import { failureIn, withoutCutJson } from '../../sync/ports/platform.ts';
import { plural } from '../names.ts';
import { rowsOf } from '../setting-requests.ts';
import {
  failingEndpoints,
  formatFailingCalls,
  formatGate,
  formatSource,
  needsAttention,
  reportGate,
  reportSources,
} from '../status.ts';
import { formatTask, reportTasks } from '../tasks.ts';
import {
  type Checked,
  check,
  connectAgain,
  elsewhere,
  fault,
  fixOfCall,
  guarded,
  messageOf,
  passed,
  wait,
} from './check.ts';

/** If a larger share of memberships match no employee, usually a match rule is wrong, not the data of single people. */
const MAX_UNMATCHED_SHARE = 0.1;
const OLD_BACKLOG_MS = 15 * 60_000;
export async function checkConnection(connection: Connection, ports: ToolPorts): Promise<readonly Check[]> {
  const named = (checks: readonly Check[]) =>
    checks.map((one) => ({ ...one, name: `${connection.name}: ${one.name}` }));
  if (connection.invalid !== undefined)
    return named([fault('settings', problemsOf(connection.invalid), repairOf(connection.name))]);
  const rounds = await Promise.all([
    // Only functions may read the credential, so a function checks it.
    guarded('credential', async () => (await ports.checkCredential(connection)).checks),
    guarded('gate', () => checkGate(connection, ports)),
    guarded('groups', () => checkGroups(connection, ports)),
    guarded('group by id', () => checkOneGroup(connection, ports)),
    guarded('tasks', () => checkTasks(connection, ports)),
    guarded('sources', () => checkSources(connection, ports)),
    guarded('directory', () => checkDirectory(connection, ports)),
  ]);
  const tried = connection.contract?.findings.find(({ about }) => about === 'PATCH version');
  const platform = tried ? `${tried.about}: ${tried.found}` : 'not tried yet: groupsync probe';
  const unknown = (connection.unknownSettings ?? []).map((key) => {
    const detail = `this version does not know ${key}; the stored value is kept`;
    return fault('settings', detail, 'deploy the release that stored this value');
  });
  const { mode } = connection.settings;
  const requests = checkRequests(connection);
  return named([
    ...rounds.flat(),
    passed('mode', mode),
    passed('platform', platform),
    ...requests,
    ...unknown,
  ]);
}

const checkRequests = (connection: Connection): readonly Check[] =>
  rowsOf(connection).map(({ key, before, after, by }) =>
    fault(
      'settings',
      `${by} asks for ${key}: ${before} → ${after}`,
      `another person confirms or rejects it:\ngroupsync connections confirm ${connection.name}`,
    ),
  );

async function checkGate(connection: Connection, { gates, health, clock }: ToolPorts) {
  const gate = await gates.read(connection.name);
  const { state, sinceMs, untilMs } = gate;
  const report = reportGate(gate, await health.read(connection.name));
  const failing = failingEndpoints(gate, clock());
  const since = sinceMs === undefined ? '' : `, for ${duration(clock() - sinceMs)}`;
  const fixes = {
    open: '',
    paused: 'groupsync resume',
    unauthorized: connectAgain(connection.name),
    backoff: wait(untilMs, clock()),
  };
  return [
    check('gate', state === 'open', {
      detail: state === 'open' ? 'open' : `${formatGate(report)}${since}`,
      fix: fixes[state],
    }),
    check('platform calls', failing.length === 0, {
      detail: failing.length === 0 ? 'no call fails' : failing.map(formatFailingCalls).join('; '),
      fix: state === 'unauthorized' ? fixes.unauthorized : wait(untilMs, clock()),
    }),
    check('observing', !connection.observing, {
      detail: connection.observing ? 'plans only, writes nothing' : 'no',
      fix: 'groupsync resume',
    }),
  ];
}

async function checkGroups({ name }: Connection, ports: ToolPorts) {
  const { total, failed, oldestMs, wanted, holds } = await countGroups(name, ports);
  const waiting = holds.waiting === 1 ? '1 group waits' : `${holds.waiting} groups wait`;
  const rejected = holds.rejected === 0 ? '' : `; ${holds.rejected} rejected by an operator`;
  return [
    check('failed groups', failed === 0, {
      detail: `${failed} of ${total}`,
      fix: 'groupsync groups --state failed',
    }),
    check('holds', holds.waiting === 0, {
      detail: `${waiting} for a decision${rejected}`,
      fix: 'groupsync holds',
    }),
    check('backlog', oldestMs <= OLD_BACKLOG_MS, {
      detail: oldestMs === 0 ? 'none' : `the oldest change waits for ${duration(oldestMs)}`,
      fix: 'groupsync groups --state dirty',
    }),
    await checkUnmatched(name, wanted, ports.index),
  ];
}

async function countGroups(connection: Connection['name'], { index, groups, clock }: ToolPorts) {
  const holds = { waiting: 0, approved: 0, rejected: 0 };
  let total = 0;
  let failed = 0;
  let oldestMs = 0;
  let wanted = 0;
  for await (const page of index.all(connection)) {
    const nowMs = clock();
    total += page.length;
    failed += page.filter(({ failedAtMs }) => failedAtMs !== undefined).length;
    oldestMs = Math.max(oldestMs, ...page.map(({ dirtySinceMs = nowMs }) => nowMs - dirtySinceMs));
    for (const state of await groups.readMany(page.map(({ ref }) => ref))) {
      wanted += state.counts?.wanted ?? 0;
      for (const { decision } of holdsOf(state)) holds[decision.kind] += 1;
    }
  }
  return { total, failed, oldestMs, wanted, holds };
}

/** Reads one managed group, because the list of groups may work while reads of single groups fail. */
async function checkOneGroup(connection: Connection, ports: ToolPorts): Promise<Checked> {
  const id = await otherLinkedGroup(connection.name, undefined, { ...ports, random: () => 0 });
  if (id === undefined) return [];
  const failure = await failureIn(async () => (await ports.platforms.open(connection)).groups.get(id));
  if (failure === undefined) return passed('group by id', 'a managed group can be read');
  // The check of the credential already reports this failure.
  if (failure.kind === 'unauthorized') return [];
  const fix = await fixOfCall(failure, connection.name, ports);
  return fault('group by id', withoutCutJson(failure.message), fix ?? wait(undefined, ports.clock()));
}

async function checkUnmatched(name: Connection['name'], wanted: number, index: ToolPorts['index']) {
  let unmatched = 0;
  for await (const page of index.pending(name)) {
    unmatched += page.filter(({ cause }) => cause === 'unknown' || cause === 'ambiguous').length;
  }
  const share = wanted === 0 ? 0 : unmatched / wanted;
  const percent = `${Math.round(share * 100)} %`;
  return check('unmatched members', share <= MAX_UNMATCHED_SHARE, {
    detail:
      unmatched === 0
        ? 'none'
        : `${unmatched} of ${plural(wanted, 'membership')} (${percent}) have no employee`,
    fix: 'change the setting match so that these members match an employee. The next command shows the members and the causes:\ngroupsync pending',
  });
}

async function checkTasks(connection: Connection, ports: ToolPorts): Promise<Checked> {
  const tasks = await reportTasks(connection, ports);
  return tasks.map((one) =>
    check(`task ${one.task}`, one.next === null, { detail: formatTask(one), fix: one.next ?? '' }),
  );
}

const FIX_OF_STOP =
  'docs/runbook.md, "A source or reader late or stopped": restore the access, or accept that groups were deleted. Then read now:\ngroupsync directory read';
const FIX_OF_SHORT =
  'these groups keep their members until they can be read. List them:\ngroupsync directory groups';
const FIX_OF_SOURCE = {
  events: 'check the producer. If it sends rarely, increase the expected interval:',
  scim: 'check the identity provider. If it sends rarely, increase the expected interval:',
  directory: 'docs/runbook.md, "A source or reader late or stopped". Read now:',
};

async function checkSources(connection: Connection, ports: ToolPorts): Promise<Checked> {
  const sources = await reportSources(connection, ports);
  return sources.map((one) =>
    check(`source ${one.source}`, !needsAttention(one), {
      detail: formatSource(one, duration),
      fix: fixOfSource(one, connection),
    }),
  );
}

function fixOfSource({ source, stopped, late }: SourceReport, { name }: Connection): string {
  if (stopped !== null) return FIX_OF_STOP;
  if (!late) return FIX_OF_SHORT;
  const expectLess = `groupsync connections set ${name} sources.expectEvery.${source}=1440`;
  return `${FIX_OF_SOURCE[source]}\n${source === 'directory' ? 'groupsync directory read' : expectLess}`;
}

const MAX_NAMED = 5;
const LOG = 'aws logs tail "/aws/lambda/$GROUPSYNC_PREFIX-directory" --since 1h';

/** After the connection was removed and connected again, it reads no directory, but the reader owns its groups. */
async function checkOwnerless(connection: Connection, ports: ToolPorts): Promise<Checked> {
  const known = await ports.reader.groups(connection.name);
  const owned = known.length === 0 ? [] : await groupsOfReader(connection, ports);
  if (owned.length === 0) return [];
  const detail = `the connection reads no directory, so no source changes ${plural(owned.length, 'group')} of the reader: ${owned.slice(0, MAX_NAMED).join(', ')}`;
  const fix =
    'connect the directory again, or give the groups to another source:\ngroupsync directory takeover --to scim';
  return fault('directory', detail, fix);
}

async function checkDirectory(connection: Connection, ports: ToolPorts) {
  const { functions, deployment } = ports;
  const { name, settings } = connection;
  if (settings.directory === null) return checkOwnerless(connection, ports);
  if (deployment.isConsole) return elsewhere('directory', 'each step of reading the directory');
  let steps: readonly DirectoryStepRow[];
  try {
    const answer = await functions.run('directory', { connection: name, examine: true });
    steps = DirectoryExamination.parse(answer).reports[0].steps;
  } catch (error) {
    const fix = `deploy with directory: true (docs/deploy.md). If the function exists, its log has the reason:\n${LOG}`;
    return fault('directory', `the function directory cannot be called: ${messageOf(error)}`, fix);
  }
  return steps.map((row) => checkOfStep(row, settings.directory as DirectorySetting, name));
}

const checkOfStep = (row: DirectoryStepRow, setting: DirectorySetting, connection: string): Check =>
  check(`directory ${row.step}`, row.problem === null, {
    detail: row.problem ?? row.detail ?? 'works',
    fix: fixOfStep(row, setting, connection),
  });
