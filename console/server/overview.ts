import { createHash } from 'node:crypto';
import type { Cause } from '../../shared/contract/answers/dead-letters.ts';
import { READ } from '../../shared/contract/operator-actions.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { listHolds } from '../../shared/operate/holds.ts';
import { holdRow, listPending } from '../../shared/operate/lists.ts';
import { rehiresAmong } from '../../shared/operate/rehires.ts';
import { stateName, summaries } from '../../shared/operate/report.ts';
import { listConnections, readableConnection } from '../../shared/operate/settings.ts';
import { readStatus } from '../../shared/operate/status.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { GroupSummary } from '../../shared/sync/ports/group-index.ts';
import { listAcknowledgements } from './acknowledgements.ts';
import { createActivity } from './activity.ts';
import { chartsOf } from './charts.ts';
import { DECISIONS } from './decided.ts';
import { surveyDeliveries } from './delivery-survey.ts';
import { type GroupFilter, groupPage, linesOf } from './group-list.ts';
import type { Live } from './live.ts';
import { namedUnmatched, type UnmatchedFilter, unmatchedIn, unmatchedPage } from './pending.ts';
import { readAllMembers } from './people.ts';
import { BOTH_QUEUES, type Session } from './session.ts';
import { unresolved } from './unresolved.ts';

/** All open pages share one read of the table within this time. */
const FRESH_MS = 1_500;
/** The pause after a read is at least four times as long as the read. So reads take at most a fifth of the time. */
const PAUSE_FACTOR = 4;
const NAMES_MS = 60_000;
const STATES_MS = 10_000;
const SHOWN = 50;

/** Returns a short hash of facts. When the hash changes, the page asks for new data. */
export const revisionOf = (facts: unknown): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);

/** Data of all pages. Requests share one read of the connection. */
export function createOverview(connection: ConnectionName, ports: ToolPorts, session: Session) {
  const deadLetters: { counts?: string; causes: readonly Cause[] } = { causes: [] };

  async function read() {
    const [status, pending, groups] = await Promise.all([
      readableConnection(connection, ports).then((one) => readStatus(one, ports)),
      listPending(connection, ports),
      everyGroup(),
    ]);
    const at = new Date(ports.clock()).toISOString();
    return { at, status, pending, groups };
  }
  async function everyGroup() {
    const all: GroupSummary[] = [];
    for await (const page of summaries(connection, ports)) all.push(...page);
    return all;
  }
  const current = shared(read, FRESH_MS, ports);
  /** Sorting by a number of members needs the state of every group. */
  const everyState = shared(
    async () => ports.groups.readMany((await current.get()).groups.map(({ ref }) => ref)),
    STATES_MS,
    ports,
  );
  const rehires = shared(
    async () =>
      rehiresAmong((await current.get()).pending, await readableConnection(connection, ports), ports),
    STATES_MS,
    ports,
  );
  const activity = shared(createActivity(connection, ports), FRESH_MS, ports);
  const deliveries = shared(() => surveyDeliveries(connection, ports), FRESH_MS, ports);
  const allMembers = shared(() => readAllMembers(connection, ports), NAMES_MS, ports);

  /**
   * Reading a queue hides its messages from other consumers for a moment. So the function reads the two queues only if
   * the size of one has changed.
   */
  async function causes() {
    const { eventsDlq: events, applyDlq: apply } = (await current.get()).status.queues;
    const counts = `${events} ${apply}`;
    if ((events ?? 0) + (apply ?? 0) === 0) deadLetters.causes = [];
    else if (deadLetters.counts !== counts) {
      const options = { queues: BOTH_QUEUES, limit: 0, patienceSeconds: 0 };
      deadLetters.causes = (await session.inSequence(() => surveyDeadLetters(ports, options))).causes;
    }
    deadLetters.counts = counts;
    return deadLetters.causes;
  }

  /** The holds, with the names of their groups. */
  async function namedHolds() {
    const [{ groups }, held] = await Promise.all([current.get(), listHolds(connection, ports)]);
    const names = new Map(groups.map(({ ref, name }) => [ref.group, name ?? null]));
    return held.map((one) => ({ ...holdRow(one), name: names.get(one.group) ?? null }));
  }

  /** The items that need an operator, without the dead-lettered messages of all connections. */
  async function attention() {
    const { status, pending, groups } = await current.get();
    const [{ company, observing }, holds, drift, failed, acknowledged] = await Promise.all([
      readableConnection(connection, ports),
      namedHolds(),
      unresolved(connection, ports),
      linesOf(groups.filter((group) => stateName(group) === 'failed').slice(0, SHOWN), pending, ports),
      listAcknowledgements(connection, ports),
    ]);
    const nameOf = (id: string) => groups.find(({ ref }) => ref.group === id)?.name ?? null;
    const unmatched = unmatchedIn(pending, await rehires.get());
    return {
      company,
      observing,
      status,
      holds,
      failed,
      drift: drift.map((row) => ({ ...row, name: nameOf(row.group) })),
      unmatched: await namedUnmatched(connection, unmatched.slice(0, SHOWN), ports),
      unmatchedTotal: unmatched.length,
      acknowledged,
    };
  }

  async function home() {
    const [{ at, status }, shown, { entries }] = await Promise.all([
      current.get(),
      attention(),
      activity.get(),
    ]);
    return {
      ...shown,
      at,
      causes: await causes(),
      activity: entries.filter(({ action }) => !action.startsWith(READ)).slice(0, 12),
      charts: chartsOf(entries, await ports.trends.read(connection), {
        nowMs: ports.clock(),
        waitsMs: status.oldestUnappliedMs ?? 0,
      }),
    };
  }

  async function holds() {
    const [rows, { entries }] = await Promise.all([namedHolds(), activity.get()]);
    const isDecided = ({ decision }: (typeof rows)[number]) => (decision === 'waiting' ? 0 : 1);
    return {
      decided: entries.filter(({ action }) => DECISIONS.has(action)).slice(0, SHOWN),
      holds: rows.sort((a, b) => isDecided(a) - isDecided(b) || (a.createdAt < b.createdAt ? 1 : -1)),
    };
  }

  return {
    home,
    attention,
    causes,
    holds,
    nameOf: async (group: string): Promise<string | null> =>
      (await current.get()).groups.find(({ ref }) => ref.group === group)?.name ?? null,
    deliveries: deliveries.get,
    activity: activity.get,
    allMembers: allMembers.get,
    async unmatched(filter: UnmatchedFilter) {
      const all = unmatchedIn((await current.get()).pending, await rehires.get());
      return unmatchedPage(connection, all, filter, ports);
    },
    async groups(filter: GroupFilter) {
      return groupPage(await current.get(), filter, {
        store: ports.groups,
        clock: ports.clock,
        everyState: everyState.get,
      });
    },
    /** The revision changes whenever the content of a page may change. */
    async live(): Promise<Live> {
      const { status, pending, groups } = await current.get();
      const { backlog, gate, failingCalls, credential, queues } = status;
      const { entries } = await activity.get();
      // `dueMs` is part of each row, because the page of a group shows how long the group waits.
      const rows = groups.map(({ ref, ...shown }) => [ref.group, shown]);
      const calls = failingCalls.map(({ endpoint, since, reason }) => [endpoint, since, reason]);
      const facts = [
        backlog,
        gate,
        calls,
        credential.failure,
        queues,
        pending,
        rows,
        entries[0],
        entries.length,
      ];
      const { eventsDlq, applyDlq } = queues;
      return {
        revision: revisionOf(facts),
        deadLetters: eventsDlq === null || applyDlq === null ? null : eventsDlq + applyDlq,
        holds: groups.filter(({ holdWaits }) => holdWaits).length,
        role: null,
        refused: {},
        connections: await listConnections(ports),
      };
    },
    /** Call this function after an operator's action, so that the next request shows the effect. */
    forget(): void {
      current.forget();
      activity.forget();
    },
  };
}

export type Overview = ReturnType<typeof createOverview>;

/** Shares one read among all requests within `freshMs`. Failed reads are not cached. */
function shared<Value>(read: () => Promise<Value>, freshMs: number, { clock }: Pick<ToolPorts, 'clock'>) {
  let last: { readonly value: Promise<Value>; untilMs: number } | undefined;
  return {
    get(): Promise<Value> {
      if (last !== undefined && clock() < last.untilMs) return last.value;
      const startedMs = clock();
      const reading = { value: read(), untilMs: Number.POSITIVE_INFINITY };
      last = reading;
      reading.value.then(
        () => {
          reading.untilMs = clock() + Math.max(freshMs, PAUSE_FACTOR * (clock() - startedMs));
        },
        () => {
          if (last === reading) last = undefined;
        },
      );
      return reading.value;
    },
    forget(): void {
      last = undefined;
    },
  };
}
