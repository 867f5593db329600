import type { Connection } from '../../ports/connections.ts';
import type { SampledEmployee } from '../connect/input.ts';
import { checkFields, neededFields } from '../connect/inspect.ts';
import type { Applicant } from '../ports.ts';
import { type Check, check, type DoctorPorts, fault, guarded, well } from './check.ts';

/** Of members that count, past this share it is rarely the people who are at fault. */
const MAX_UNMATCHED_SHARE = 0.1;
/** Three runs of the schedule that were missed. */
const STALE_FEED_MS = 15 * 60_000;
const OLD_BACKLOG_MS = 15 * 60_000;
/** Stamps tolerate 5 minutes (`time_in_future`), coalescing 2 seconds; a person's machine is in between. */
const MAX_SKEW_MS = 60_000;

/** One connection from the credential to the last group. */
export async function checkConnection(connection: Connection, ports: DoctorPorts): Promise<readonly Check[]> {
  const named = (checks: readonly Check[]) =>
    checks.map((one) => ({ ...one, name: `${connection.name}: ${one.name}` }));
  const rounds = await Promise.all([
    guarded('credential', () => checkCredential(connection, ports)),
    guarded('gate', () => checkGate(connection, ports)),
    guarded('groups', () => checkGroups(connection, ports)),
    guarded('feed', () => checkFeed(connection, ports)),
  ]);
  return named(rounds.flat());
}

async function checkCredential(
  { name, company, settings }: Connection,
  { applicants }: DoctorPorts,
): Promise<readonly Check[]> {
  const reconnect = `groupsync connect ${name}`;
  let applicant: Applicant;
  try {
    applicant = await applicants.stored(name, settings.baseUrl);
  } catch (error) {
    return [fault('secret', error instanceof Error ? error.message : String(error), reconnect)];
  }
  const me = await applicant.me().catch((error: unknown) => error as Error);
  const checks: Check[] = [well('secret', 'readable')];
  if (me instanceof Error) return [...checks, fault('credential', me.message, reconnect)];
  checks.push(
    check('company', me.company === company, {
      detail: `the credential belongs to ${me.company}`,
      fix: `the connection was made for ${company}: ${reconnect} with a token of that company`,
    }),
    ...(await checkClock(applicant)),
    ...(await guarded('groups permission', async () => {
      const groups = await applicant.groups();
      return [well('groups permission', `${groups.length} groups on the platform`)];
    })),
    ...(await guarded('employees', async () => {
      const sample = await firstPage(applicant, neededFields(settings), settings.includeStates);
      return checkFields(settings, sample);
    })),
  );
  return checks;
}

async function checkClock(applicant: Applicant): Promise<readonly Check[]> {
  const skewMs = await applicant.clockSkewMs();
  if (skewMs === undefined) return [];
  const seconds = Math.round(skewMs / 1_000);
  return [
    check('clock', Math.abs(skewMs) <= MAX_SKEW_MS, {
      detail: `this machine is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the platform`,
      fix: 'set the clock of this machine (or of the platform): events over 5 minutes ahead are refused',
    }),
  ];
}

async function firstPage(
  applicant: Applicant,
  fields: readonly string[],
  states: readonly string[],
): Promise<readonly SampledEmployee[]> {
  for await (const page of applicant.employees(fields, states)) return page;
  return [];
}

async function checkGate(connection: Connection, { gates, clock }: DoctorPorts): Promise<readonly Check[]> {
  const { state, reason, sinceMs } = await gates.read(connection.name);
  const since = sinceMs === undefined ? '' : ` for ${minutes(clock() - sinceMs)}`;
  const fixes = {
    open: '',
    paused: 'groupsync resume',
    unauthorized: `groupsync connect ${connection.name} with a token that is accepted`,
    backoff: 'wait: it is tried again by itself; if it lasts, ask the operator of the platform',
  };
  return [
    check('gate', state === 'open', {
      detail: state === 'open' ? 'open' : `${state}${since}: ${reason ?? 'no reason given'}`,
      fix: fixes[state],
    }),
    check('observing', !connection.observing, {
      detail: connection.observing ? 'plans only, writes nothing' : 'no',
      fix: 'groupsync resume',
    }),
  ];
}

async function checkGroups(
  { name }: Connection,
  { index, groups, clock }: DoctorPorts,
): Promise<readonly Check[]> {
  let failed = 0;
  let held = 0;
  let total = 0;
  let oldestMs = 0;
  let wanted = 0;
  for await (const page of index.all(name)) {
    const states = await groups.readMany(page.map(({ ref }) => ref));
    wanted += states.reduce((sum, { counts }) => sum + (counts?.wanted ?? 0), 0);
    for (const { failedAtMs, holdWaits, dirtySinceMs } of page) {
      total += 1;
      if (failedAtMs !== undefined) failed += 1;
      if (holdWaits) held += 1;
      if (dirtySinceMs !== undefined) oldestMs = Math.max(oldestMs, clock() - dirtySinceMs);
    }
  }
  return [
    check('failed groups', failed === 0, {
      detail: `${failed} of ${total}`,
      fix: 'groupsync groups --state failed, then groupsync status GROUP says why',
    }),
    check('holds', held === 0, { detail: `${held} groups wait for a decision`, fix: 'groupsync holds' }),
    check('backlog', oldestMs <= OLD_BACKLOG_MS, {
      detail: oldestMs === 0 ? 'none' : `the oldest change waits for ${minutes(oldestMs)}`,
      fix: 'groupsync groups --state dirty, then groupsync status GROUP says why',
    }),
    await checkUnmatched(name, wanted, index),
  ];
}

async function checkUnmatched(
  name: Connection['name'],
  wanted: number,
  index: DoctorPorts['index'],
): Promise<Check> {
  let unmatched = 0;
  for await (const page of index.pending(name)) {
    unmatched += page.filter(({ cause }) => cause === 'unknown' || cause === 'ambiguous').length;
  }
  const share = wanted === 0 ? 0 : unmatched / wanted;
  const percent = `${Math.round(share * 100)} %`;
  return check('unmatched members', share <= MAX_UNMATCHED_SHARE, {
    detail: unmatched === 0 ? 'none' : `${unmatched} of ${wanted} memberships (${percent}) find no employee`,
    fix: 'groupsync pending lists them, groupsync explain GROUP MEMBER says why; then mend the setting match',
  });
}

async function checkFeed(
  { name }: Connection,
  { feed, health, clock }: DoctorPorts,
): Promise<readonly Check[]> {
  const position = await feed.read(name);
  const known = await health.read(name);
  const ageMs = position === undefined ? undefined : clock() - position.readAtMs;
  return [
    check('activity feed', ageMs !== undefined && ageMs <= STALE_FEED_MS, {
      detail: ageMs === undefined ? 'not read yet' : `read ${minutes(ageMs)} ago`,
      fix:
        ageMs === undefined
          ? 'just started? wait five minutes; groupsync reconcile reads it now and says what goes wrong'
          : 'groupsync reconcile reads it now and says what goes wrong',
    }),
    ...(known?.lastFailure === undefined || known.lastFailure.atMs <= (known.goodAtMs ?? 0)
      ? []
      : [fault('daily check', known.lastFailure.message, `groupsync connect ${name}`)]),
  ];
}

const minutes = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
