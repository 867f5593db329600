import { parseSettings } from '../shared/contract/change-setting.ts';
import { connectionName } from '../shared/domain/ids.ts';
import { createToken } from '../shared/scim/tokens/tokens.ts';
import { startAsking } from './ask.ts';
import { createChecks } from './checks/all-checks.ts';
import type { PastPairs } from './checks/past.ts';
import { baseUrlOf, type Cloud, createCloud } from './cloud.ts';
import { startConsumers } from './consumers.ts';
import { FEATURES, hasState, optionsOf, removes } from './features.ts';
import { operateIn, startHappenings } from './happenings.ts';
import type { WrapPorts } from './lambdas.ts';
import { createMeetings, type Meetings } from './meetings.ts';
import { createPastQuestions } from './past.ts';
import { startReaders } from './reader/readers.ts';
import type { LogLine, RunLog, Violation } from './run-log.ts';
import { startSchedules } from './schedules.ts';
import { startShowing } from './shown.ts';
import { afterSilence } from './silence.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type SimulationRun, START_MS } from './simulation-run.ts';
import { touch } from './touch.ts';
import type { Seen } from './world.ts';

interface ExecuteOptions {
  /** Whether the result contains all log lines. The trace page needs them. */
  readonly keepsLog?: boolean;
  readonly wrapPorts?: WrapPorts | undefined;
  /** Whether the result contains which features met. */
  readonly countsMeetings?: boolean;
  /** If this function returns true for a violation, the run ends at the violation. */
  readonly endsAt?: (violation: Violation) => boolean;
}

export interface Outcome {
  readonly run: SimulationRun;
  readonly violations: readonly Violation[];
  /** How often each platform fault, other fault, crash point and action took effect, by name. */
  readonly fired: ReadonlyMap<string, number>;
  readonly logLines: readonly LogLine[];
  /** Which features met; undefined if the run did not count them. */
  readonly meetings: Meetings | undefined;
  readonly figures: PastPairs & Readonly<Record<'calls' | 'effects', number>>;
  /** The final state. */
  readonly cloud: Cloud;
}

/** After all faults have ended, groupsync has this time to complete the waiting work. */
const QUIET_MS = 26 * HOUR_MS;

/**
 * The maximum number of effects of a run of at most a week. A longer run may have more in proportion. A run with more
 * effects is in an endless loop. A run of a week has about ten thousand effects. A run of a week with ten thousand
 * pending members has three million.
 */
const MOST_EFFECTS = 5_000_000;

/** Executes a simulation run until one day after its faults end, and runs the invariant checks each simulated hour. */
export async function execute(
  run: SimulationRun,
  { keepsLog = false, wrapPorts, countsMeetings = false, endsAt = () => false }: ExecuteOptions = {},
): Promise<Outcome> {
  const fired = new Map<string, number>();
  const logLines: LogLine[] = [];
  const violations: Violation[] = [];
  const meetings = createMeetings({ hasState, removes });
  const runLogOf = (nowMs: () => number): RunLog => ({
    log(line) {
      if (keepsLog) logLines.push({ atMs: nowMs(), ...line });
    },
    fired(name, where = {}) {
      fired.set(name, (fired.get(name) ?? 0) + 1);
      if (countsMeetings && IS_FEATURE.has(name))
        touch(cloud, meetings, { atMs: nowMs(), feature: name, ...where });
    },
    violated(violation) {
      violations.push({ atMs: nowMs(), ...violation });
      const { connection, group, check, sentence } = violation;
      if (keepsLog) {
        const place = { ...(connection && { connection }), ...(group && { group }) };
        logLines.push({ atMs: nowMs(), lane: 'check', what: check, detail: sentence, ...place });
      }
    },
  });
  const cloud = createCloud(run, runLogOf, wrapPorts);
  for (const { name, settings } of run.connections) {
    for (const feature of countsMeetings ? optionsOf(settings) : [])
      meetings.touch({ atMs: Number.POSITIVE_INFINITY, connection: name, feature });
  }
  await connectAll(cloud);
  startConsumers(cloud);
  startSchedules(cloud);
  startReaders(cloud, (connection) =>
    cloud.start(operateIn(cloud, { connection, action: { kind: 'accept_deletions' } })),
  );
  startHappenings(cloud);
  const faultsEndMs = START_MS + run.days * DAY_MS;
  cloud.time.at(faultsEndMs, () => calm(cloud));

  const runChecks = createChecks();
  const seen = seenIn(cloud);
  startAsking(cloud, seen);
  const past = createPastQuestions(cloud, seen, wrapPorts);
  const lastExpiryMs = faultsEndMs + QUIET_MS;
  startShowing(cloud, seen, lastExpiryMs);
  let expiredMs = START_MS;
  for (
    let atMs = START_MS + HOUR_MS;
    atMs <= lastExpiryMs && !cloud.isOver;
    atMs = nextCheckMs(cloud, atMs)
  ) {
    await cloud.pass(atMs);
    if (atMs - expiredMs >= DAY_MS) {
      cloud.table.expire(atMs);
      expiredMs = atMs;
    }
    const isEnd = atMs + HOUR_MS > lastExpiryMs;
    runChecks(seen, isEnd);
    await past.ask(isEnd);
    if (cloud.lambdas.effects() > MOST_EFFECTS * Math.max(1, run.days / 7)) {
      const sentence = `Expected a run of ${run.days} days to end, but it had ${cloud.lambdas.effects()} effects after ${Math.round((atMs - START_MS) / HOUR_MS)} hours. The engine may be in an endless loop.`;
      cloud.runLog.violated({ check: 'bounded', cause: 'never_rests', sentence });
      break;
    }
    if (violations.some(endsAt)) break;
  }
  cloud.isOver = true;
  const calls = [...cloud.platforms.values()].reduce((sum, platform) => sum + platform.calls.length, 0);
  const figures = { calls, effects: cloud.lambdas.effects(), ...past.pairs };
  const met = countsMeetings ? meetings.meetings() : undefined;
  return { run, violations, fired, logLines, meetings: met, figures, cloud };
}

const IS_FEATURE: ReadonlySet<string> = new Set(FEATURES);

/** Returns the time of the next check. */
const nextCheckMs = (cloud: Cloud, atMs: number): number => {
  const laterMs = afterSilence(cloud, atMs + HOUR_MS) - atMs;
  return atMs + Math.max(1, Math.floor(laterMs / HOUR_MS)) * HOUR_MS;
};

/** Ends all faults. An operator replays the dead-letter queues one hour later, as the runbook describes. */
function calm(cloud: Cloud): void {
  for (const platform of cloud.platforms.values()) platform.calm();
  for (const source of cloud.sources.values()) source.calm();
  cloud.lambdas.calm();
  cloud.runLog.log({ lane: 'aws', what: 'all faults end; a day without faults begins' });
  cloud.time.at(cloud.nowMs() + HOUR_MS, () => {
    const [connection] = cloud.connections.keys();
    if (connection !== undefined)
      cloud.start(operateIn(cloud, { connection, action: { kind: 'replay_all' } }));
  });
}

/** Creates the connections as an operator does, and a SCIM token for each. */
async function connectAll(cloud: Cloud): Promise<void> {
  cloud.start(
    cloud.invoke('checker', MINUTE_MS, async ({ ports }) => {
      for (const spec of cloud.run.connections.filter(({ isLater }) => isLater !== true)) {
        const { name, company, settings } = spec;
        const platform = cloud.platforms.get(company);
        if (spec.credential === 'static') {
          cloud.secretsManager.put(name, { token: `token-${name}` });
          platform?.tokens.add(`token-${name}`);
        } else {
          const [tokenUrl, refreshToken] = [`${baseUrlOf(company)}/oauth/token`, `refresh-${name}`];
          cloud.secretsManager.put(name, { clientId: 'id', clientSecret: 'secret', refreshToken, tokenUrl });
          platform?.tokens.addRefresh(refreshToken);
        }
        const parsed = parseSettings({ baseUrl: baseUrlOf(company), ...settings });
        const connection = { name: connectionName(name), company, settings: parsed, observing: false };
        await ports.connections.save(connection);
        cloud.connections.set(name, spec);
        const randomHex = (bytes: number) => Buffer.alloc(bytes, name).toString('hex');
        const { token } = await createToken(connectionName(name), { ...ports, randomHex }, {});
        cloud.scimTokens.set(name, { token, creators: [] });
      }
    }),
  );
  await cloud.pass(START_MS + 1_000);
}

function seenIn(cloud: Cloud): Seen {
  const { queues, table, actions } = cloud;
  const messages = () => Object.entries(queues.of).map(([key, queue]) => [key, queue.messages]);
  return {
    ...cloud,
    items: table.items,
    operators: { actions },
    get queues() {
      return Object.fromEntries(messages()) as Seen['queues'];
    },
  };
}
