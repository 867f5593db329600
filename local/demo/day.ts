import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import type { EventLine } from '../event-files.ts';
import { exampleEvents } from '../example.ts';
import type { ManualWork } from '../work.ts';
import type { SimulatedClock } from './simulated-clock.ts';

interface DemoStack extends ManualWork {
  /** The URL of the platform simulator. */
  readonly platform: string;
}

const HOUR_MS = 3_600_000;
/** The time between an event and the write of its change. It is longer than the coalescing window. */
const WINDOW_MS = 6_000;
/** Each hour's events happen shortly before its end, so the last ones are a minute old when the day ends. */
const MARGIN_MS = 60_000;
/**
 * For each hour of the day, the number of the example's events in this hour. They are the last events of the example.
 * All earlier events happen before the day begins.
 */
const EVENTS_IN_HOUR = [4, 3, 2, 1, 0, 1, 0, 0, 1, 0, 2, 4, 6, 7, 5, 3, 4, 6, 5, 5, 4, 3, 3, 3];
export const DAY_MS = EVENTS_IN_HOUR.length * HOUR_MS;

export const DEMO = {
  hold: { id: '00g7acme574', name: 'Acme choir' },
  approved: { id: '00g7acme433', name: 'Design' },
  edited: { id: '00g7acme485', name: 'Berlin office' },
  unmatched: { id: '00g7acme452', name: 'IT' },
  contractors: [
    { id: '00u7acme901', name: 'Ines Okafor', email: 'ines.okafor@contractor.example' },
    { id: '00u7acme902', name: 'Tomás Lindqvist', email: 'tomas.lindqvist@contractor.example' },
  ],
} as const;

/**
 * Plays the example company: half a year before `startMs` (milliseconds since 1970) at once, and then one day, hour by
 * hour. On this day, an operator meets the problems of `INCIDENTS`.
 */
export async function playDay(
  stack: DemoStack,
  clock: SimulatedClock,
  startMs: number,
  signal: AbortSignal,
): Promise<void> {
  const events = exampleEvents(startMs);
  const ofDay = events.splice(-EVENTS_IN_HOUR.reduce((sum, count) => sum + count, 0));
  await stack.publish(events);
  await settle(stack, clock);
  await stack.reconcile({ task: 'health' });
  for (const [hour, count] of EVENTS_IN_HOUR.entries()) {
    if (signal.aborted) return;
    clock.moveTo(startMs + (hour + 1) * HOUR_MS - MARGIN_MS);
    await stack.publish(ofDay.splice(0, count).map((line, index) => atTime(line, clock.now() + index)));
    await INCIDENTS[hour]?.(stack, clock);
    await settle(stack, clock);
    await stack.reconcile({ task: 'feed' });
    await stack.reconcile({ task: 'pump' });
    await settle(stack, clock);
  }
}

/** Stores the events that wait, and writes the changed groups to the platform after the coalescing window. */
async function settle(stack: DemoStack, clock: SimulatedClock): Promise<void> {
  await stack.process('ingest');
  clock.moveTo(clock.now() + WINDOW_MS);
  await stack.process('apply');
}

function atTime(line: EventLine, ms: number): EventLine {
  const event = { ...(JSON.parse(line.text) as object), time: new Date(ms).toISOString() };
  return { ...line, text: JSON.stringify(event) };
}

type Incident = (stack: DemoStack, clock: SimulatedClock) => Promise<unknown>;

/** The problems of the day, by hour. */
const INCIDENTS: Readonly<Record<number, Incident>> = {
  2: (stack, clock) =>
    send(stack, clock, 'group.member.added', {
      group: { id: DEMO.unmatched.id },
      members: DEMO.contractors,
    }),
  5: (stack, clock) => keepOnly([100, 140, 160, 200, 220, 260], DEMO.approved, stack, clock),
  6: ({ reconcile }) => {
    const about = { about: 'hold', connection: DEFAULT_CONNECTION, group: DEMO.approved.id };
    const decision = { ...about, isApproved: true, request: { reason: 'The team was split.' } };
    const proof = { user: 'ann' };
    return reconcile({
      task: 'decide',
      connection: DEFAULT_CONNECTION,
      decision: JSON.stringify(decision),
      proof,
    });
  },
  9: (stack) => editOnPlatform(stack),
  13: ({ platform }) =>
    control(platform, 'faults', [
      { match: { path: '/platform/*' }, status: 503, retryAfter: 1_800, times: 10_000 },
    ]),
  14: ({ platform }) => control(platform, 'faults', []),
  18: (stack, clock) =>
    send(stack, clock, 'group.member.added', {
      group: { id: DEMO.edited.id },
      members: [{ mail: 'no.id@acme.example' }],
    }),
  21: (stack, clock) => keepOnly([209, 228, 290], DEMO.hold, stack, clock),
};

let sent = 0;

function send(stack: DemoStack, clock: SimulatedClock, type: string, data: object): Promise<unknown> {
  sent += 1;
  const event = {
    specversion: '1.0',
    id: `acme-demo-${sent}`,
    source: 'okta/acme',
    type: `directory.${type}`,
    time: new Date(clock.now() + 100).toISOString(),
    data,
  };
  return stack.publish([{ file: 'demo', line: sent, text: JSON.stringify(event) }]);
}

/** Sends a list of the group without most of its members, so the guard holds their removal. */
const keepOnly = (
  members: readonly number[],
  group: { readonly id: string; readonly name: string },
  stack: DemoStack,
  clock: SimulatedClock,
) => send(stack, clock, 'group.snapshot', { group, members: members.map((n) => ({ id: `00u7acme0${n}` })) });

/** Another client of the platform removes two users from a group. */
async function editOnPlatform({ platform }: DemoStack): Promise<void> {
  const state = await fetch(`${platform}/_simulator/state`);
  const { companies } = (await state.json()) as {
    companies: { groups: { id: string; name: string; users: string[] }[] }[];
  };
  const group = companies[0]?.groups.find(({ name }) => name === DEMO.edited.name);
  await control(platform, `groups/${group?.id}`, {
    users: group?.users.slice(2),
    initiator: 'EXTERNAL',
    app: 'hr-import',
  });
}

async function control(platform: string, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${platform}/_simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
