import { actsOf } from './acts.ts';
import { roleOf, type Town } from './draw-people.ts';
import { BY_REQUEST } from './draw-scim.ts';
import { between, type Random, some } from './random.ts';
import {
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
} from './simulation-run.ts';

/** The share of connections with a takeover. */
const TAKEOVERS = 0.25;

/** The effects of a move, before each of which the command or the requeue job may crash. */
const EFFECTS =
  'put READERMOVE#, update GROUP, put VIEW#, put HELD#, put DRIFT#, update L#, delete READERMOVE#, update CONNECTION, put ACT#';

interface Place {
  readonly town: Pick<Town, 'name'>;
  readonly group: string;
  readonly members: readonly string[];
}

function actors({ town: { name } }: Place, atMs: number) {
  const { event, operator } = actsOf(name);
  const at = (minutes: number) => atMs + minutes * MINUTE_MS;
  return {
    event: (minutes: number, action: DirectoryAction) => event(at(minutes), action),
    scim: (minutes: number, action: DirectoryAction) => event(at(minutes), action, BY_REQUEST),
    operate: (minutes: number, action: OperatorAction) => operator(at(minutes), action),
  };
}

/** The SCIM client sends what the events sent, and becomes the owner. An operator resumes the connection. */
export function toScim(place: Place, atMs: number): readonly Happening[] {
  const { town, group, members } = place;
  const { event, scim, operate } = actors(place, atMs);
  const name = `Taken ${group} ${town.name}`;
  const emails = members.map((one) =>
    scim(-9, { kind: 'profile', member: `q-${one}`, email: `${one}@${town.name}.test` }),
  );
  const ofClient = members.map((one) => `q-${one}`);
  return [
    event(-10, { kind: 'snapshot', group, name, members, parts: 1 }),
    ...emails,
    scim(-7, { kind: 'snapshot', group: `s-${group}`, name, members: ofClient, parts: 1 }),
    operate(0, { kind: 'takeover', to: 'scim' }),
    ...[4, 30].map((minutes) => operate(minutes, { kind: 'resume_all' })),
  ];
}

/** The former source becomes the owner again. If it is a reader, the event has no effect. */
export function takeBack(place: Place, atMs: number, to: 'events' | 'directory'): readonly Happening[] {
  const { event, operate } = actors(place, atMs);
  return [
    event(-5, { kind: 'snapshot', group: place.group, name: null, members: place.members, parts: 1 }),
    operate(0, { kind: 'takeover', to }),
    ...[1, 30].map((minutes) => operate(minutes, { kind: 'resume_all' })),
  ];
}

/** Draws a takeover of a group. Both sources go on to send changes. */
export function drawTakeovers(
  random: Random,
  { town, endMs }: { readonly town: Town; readonly endMs: number },
): readonly Happening[] {
  if (!random.chance(TAKEOVERS)) return [];
  const known = town.people.filter(({ email, role }) => email !== null && /-p\d+$/.test(role));
  const members = some(random, known, 6).map(({ role }) => role.slice(roleOf(town.name, '').length));
  const group = random.pick(town.groups);
  const place = { town, group, members };
  const former = 'directory' in town.settings ? 'directory' : 'events';
  const atMs = between(random, HOUR_MS, Math.max(HOUR_MS, endMs - 15 * HOUR_MS));
  const { event, scim } = actors(place, atMs);
  const leave = (at: number) => ({ kind: 'leave', group, members: members.slice(at, at + 1) }) as const;
  const leaveScim = (at: number) =>
    ({ kind: 'leave', group: `s-${group}`, members: [`q-${members[at]}`] }) as const;
  const crash = (minutes: number): readonly Happening[] => {
    const lambda = random.pick(['operator', 'operator', 'pump'] as const);
    const effect = random.pick(EFFECTS.split(', '));
    const action = { kind: 'crash', lambda, effect, nth: between(random, 1, 2) } as const;
    return random.chance(0.5) ? [actsOf(town.name).aws(atMs + minutes * MINUTE_MS, action)] : [];
  };
  return [
    ...toScim(place, atMs),
    ...crash(-1),
    ...crash(299),
    event(5, leave(0)),
    event(60, leave(3)),
    scim(90, leaveScim(0)),
    ...(random.chance(0.6) ? takeBack(place, atMs + 5 * HOUR_MS, former) : []),
    scim(350, leaveScim(1)),
    event(390, leave(2)),
  ];
}
