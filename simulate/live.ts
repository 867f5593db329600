import { parseSettings } from '../shared/contract/change-setting.ts';
import { connectionName } from '../shared/domain/ids.ts';
import { createToken } from '../shared/sync/scim/tokens.ts';
import { startAsking } from './ask.ts';
import { baseUrlOf, type Cloud, createCloud } from './cloud.ts';
import { startConsumers } from './consumers.ts';
import { operateIn, startHappenings } from './happen.ts';
import type { Plant } from './lambdas.ts';
import { DAY_MS, HOUR_MS, type Life, MINUTE_MS, START_MS } from './life.ts';
import { createOracles } from './oracles/oracles.ts';
import { startSchedules } from './schedules.ts';
import { startShowing } from './shown.ts';
import { afterSilence } from './silence.ts';
import type { RunLog, Told, Violation } from './told.ts';
import type { Seen } from './world.ts';

export interface LiveOptions {
  /** Keeps every line of the story, for the page. */
  readonly tells?: boolean;
  /** A planted bug. */
  readonly plant?: Plant | undefined;
  /** Whether a violation ends the life; it is lived to its end where nothing is said. */
  readonly endsAt?: (violation: Violation) => boolean;
}

export interface Outcome {
  readonly life: Life;
  readonly violations: readonly Violation[];
  /** How often each platform fault, fault, crash point and action took effect. */
  readonly fired: ReadonlyMap<string, number>;
  readonly told: readonly Told[];
  readonly figures: { readonly calls: number; readonly effects: number; readonly simulatedMs: number };
  /** The world as it ended. */
  readonly cloud: Cloud;
}

/** After trouble ends everything that waited for something has its day. */
const QUIET_MS = 26 * HOUR_MS;

/** A run of a week has some ten thousand, or three million while ten thousand members wait for a match. */
const MOST_EFFECTS = 5_000_000;

/** Lives one life from its first happening to a day after its last trouble, and has it judged each hour. */
export async function live(
  life: Life,
  { tells = false, plant, endsAt = () => false }: LiveOptions = {},
): Promise<Outcome> {
  const fired = new Map<string, number>();
  const told: Told[] = [];
  const violations: Violation[] = [];
  const runLogOf = (nowMs: () => number): RunLog => ({
    tell(line) {
      if (tells) told.push({ atMs: nowMs(), ...line });
    },
    fired: (name) => fired.set(name, (fired.get(name) ?? 0) + 1),
    violated(violation) {
      violations.push({ atMs: nowMs(), ...violation });
      const { connection, group, oracle, sentence } = violation;
      if (tells) {
        const place = { ...(connection && { connection }), ...(group && { group }) };
        told.push({ atMs: nowMs(), lane: 'oracle', what: oracle, detail: sentence, ...place });
      }
    },
  });
  const cloud = createCloud(life, runLogOf, plant);
  const scimTokens = await connectAll(cloud);
  startConsumers(cloud);
  startSchedules(cloud);
  startHappenings(cloud, scimTokens);
  const troubleEndsMs = START_MS + life.days * DAY_MS;
  cloud.time.at(troubleEndsMs, () => calm(cloud));

  const look = createOracles();
  const seen = seenIn(cloud);
  startAsking(cloud, seen);
  const lastExpiryMs = troubleEndsMs + QUIET_MS;
  startShowing(cloud, seen, lastExpiryMs);
  let expiredMs = START_MS;
  for (let atMs = START_MS + HOUR_MS; atMs <= lastExpiryMs && !cloud.isOver; atMs = nextLook(cloud, atMs)) {
    await cloud.pass(atMs);
    if (atMs - expiredMs >= DAY_MS) {
      cloud.table.expire(atMs);
      expiredMs = atMs;
    }
    look(seen, atMs + HOUR_MS > lastExpiryMs);
    if (cloud.lambdas.effects() > MOST_EFFECTS * Math.max(1, life.days / 7)) {
      const sentence = `expected ${life.days} days to end, found ${cloud.lambdas.effects()} effects after ${Math.round((atMs - START_MS) / HOUR_MS)} hours: something never rests`;
      cloud.runLog.violated({ oracle: 'bounded', cause: 'never_rests', sentence });
      break;
    }
    if (violations.some(endsAt)) break;
  }
  cloud.isOver = true;
  const calls = [...cloud.platforms.values()].reduce((sum, platform) => sum + platform.calls.length, 0);
  const figures = { calls, effects: cloud.lambdas.effects(), simulatedMs: cloud.nowMs() - START_MS };
  return { life, violations, fired, told, figures, cloud };
}

/** Each hour, and less often in a long silence. */
const nextLook = (cloud: Cloud, atMs: number): number => {
  const laterMs = afterSilence(cloud, atMs + HOUR_MS) - atMs;
  return atMs + Math.max(1, Math.floor(laterMs / HOUR_MS)) * HOUR_MS;
};

/** Faults stop; an hour later an operator replays what lies dead-lettered, as every runbook ends. */
function calm(cloud: Cloud): void {
  for (const platform of cloud.platforms.values()) platform.calm();
  cloud.lambdas.calm();
  cloud.runLog.tell({ lane: 'aws', what: 'all faults end; a quiet day begins' });
  cloud.time.at(cloud.nowMs() + HOUR_MS, () => {
    const [connection] = cloud.connections.keys();
    if (connection !== undefined)
      cloud.start(operateIn(cloud, { connection, action: { kind: 'replay_all' } }));
  });
}

/** The connections as an administrator made them, and a SCIM token for each. */
async function connectAll(cloud: Cloud): Promise<ReadonlyMap<string, string>> {
  const tokens = new Map<string, string>();
  cloud.start(
    cloud.invoke('judge', MINUTE_MS, async ({ ports }) => {
      for (const spec of cloud.life.connections.filter(({ isLater }) => isLater !== true)) {
        const { name, company, settings } = spec;
        const platform = cloud.platforms.get(company);
        if (spec.credential === 'static') {
          cloud.vault.put(name, { token: `token-${name}` });
          platform?.tokens.add(`token-${name}`);
        } else {
          const [tokenUrl, refreshToken] = [`${baseUrlOf(company)}/oauth/token`, `refresh-${name}`];
          cloud.vault.put(name, { clientId: 'id', clientSecret: 'secret', refreshToken, tokenUrl });
          platform?.tokens.addRefresh(refreshToken);
        }
        const parsed = parseSettings({ baseUrl: baseUrlOf(company), ...settings });
        const connection = { name: connectionName(name), company, settings: parsed, observing: false };
        await ports.connections.save(connection);
        cloud.connections.set(name, spec);
        const randomHex = (bytes: number) => Buffer.alloc(bytes, name).toString('hex');
        tokens.set(name, (await createToken(connectionName(name), { ...ports, randomHex }, {})).token);
      }
    }),
  );
  await cloud.pass(START_MS + 1_000);
  return tokens;
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
