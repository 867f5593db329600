import { type Directory, makeDirectory, type PlannedEvent } from './example-directory.ts';
import { type GroupPlan, makeGroups } from './example-groups.ts';
import { makePeople, type Person } from './example-people.ts';
import { type Random, seededRandom } from './example-random.ts';

/** What happened at the example company in half a year. */
export interface Story {
  readonly people: readonly Person[];
  readonly leavers: ReadonlyMap<Person, number>;
  readonly events: readonly PlannedEvent[];
}

const START_MS = Date.UTC(2026, 4, 18, 6);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS = 178;
const SEED = 20_260_518;

const LEAVERS = 22;
const MOVES = 24;
const CIRCLE_JOINS = 610;
const CIRCLE_LEAVES = 40;

interface Scene {
  readonly directory: Directory;
  readonly random: Random;
  readonly people: readonly Person[];
  readonly groups: readonly GroupPlan[];
  /** People at the company now. */
  readonly present: Set<Person>;
  readonly leavers: Map<Person, number>;
}

/** Tells the story from its first day to its last; the same every time. */
export function tellStory(): Story {
  const random = seededRandom(SEED);
  const people = makePeople(random);
  const groups = makeGroups(random);
  const directory = makeDirectory();
  const scene: Scene = { directory, random, people, groups, present: new Set(), leavers: new Map() };
  firstExport(scene);
  for (const { atMs, act } of plot(scene)) act(atMs);
  return { people, leavers: scene.leavers, events: directory.events };
}

/** The directory as it stood when it was first connected: users, then groups, then who is in them. */
function firstExport({ directory, people, groups, present }: Scene): void {
  const staff = people.filter(({ arrival }) => arrival === 'staff');
  for (const [index, person] of staff.entries()) {
    directory.saveUser(START_MS + index * 400, person, person.formerLastName ?? person.lastName);
    present.add(person);
  }
  for (const [index, plan] of groups.entries()) {
    directory.saveGroup(START_MS + 10 * MINUTE_MS + index * 700, plan);
  }
  for (const [index, plan] of groups.entries()) {
    if (plan.kind === 'circle') continue;
    directory.snapshot(START_MS + 20 * MINUTE_MS + index * 10_000, plan, staff.filter(plan.includes));
  }
}

interface Beat {
  readonly atMs: number;
  readonly act: (atMs: number) => void;
}

/** Everything after the first day, in order of time. */
function plot(scene: Scene): Beat[] {
  const { random, people, groups } = scene;
  const beats: Beat[] = [];
  const someTime = () => START_MS + DAY_MS * (1 + random.below(DAYS - 1)) + random.below(10 * 60) * MINUTE_MS;
  const often = (times: number, act: Beat['act']) => {
    for (let time = 0; time < times; time += 1) beats.push({ atMs: someTime() + time, act });
  };
  for (const joiner of people.filter(({ arrival }) => arrival === 'joiner')) {
    const monday = START_MS + 7 * DAY_MS * (1 + random.below(24)) + 2 * 60 * MINUTE_MS;
    beats.push({ atMs: monday + joiner.number * 1_000, act: (atMs) => join(scene, joiner, atMs) });
  }
  for (const person of people.filter(({ formerLastName }) => formerLastName !== undefined)) {
    beats.push({ atMs: someTime(), act: (atMs) => scene.directory.saveUser(atMs, person, person.lastName) });
  }
  often(LEAVERS, (atMs) => leave(scene, atMs));
  often(MOVES, (atMs) => move(scene, atMs));
  often(CIRCLE_JOINS, (atMs) => joinCircle(scene, atMs));
  often(CIRCLE_LEAVES, (atMs) => leaveCircle(scene, atMs));
  beats.push(...renamings(scene), ...restatements(scene), ...endings(groups, scene));
  return beats.sort((a, b) => a.atMs - b.atMs);
}

const day = (number: number, hour: number) => START_MS + number * DAY_MS + hour * 60 * MINUTE_MS;

/** A new colleague: the account, then one event per group, all in the same instant and told apart by sequence. */
function join({ directory, present }: Scene, person: Person, atMs: number): void {
  directory.saveUser(atMs, person, person.lastName);
  present.add(person);
  const plans = directory.existing().filter((plan) => plan.kind !== 'circle' && plan.includes(person));
  for (const [index, plan] of plans.entries()) directory.add(atMs + 5_000, plan, [person], index + 1);
}

/** Some leavers are taken out of their teams first; for all of them the account's deletion ends the rest. */
function leave({ directory, random, present, leavers }: Scene, atMs: number): void {
  const mayLeave = (person: Person) =>
    directory.existing().every((plan) => !directory.isIn(plan, person) || directory.mayLose(plan, person));
  const person = random.sample([...present], present.size).find(mayLeave);
  if (person === undefined) return;
  const teams = directory.existing().filter((plan) => plan.kind === 'team' && directory.isIn(plan, person));
  for (const team of teams) directory.remove(atMs - MINUTE_MS, team, [person]);
  directory.deleteUser(atMs, person);
  present.delete(person);
  leavers.set(person, atMs);
}

/** Someone changes teams: out of one and into another in the same instant. */
function move({ directory, random }: Scene, atMs: number): void {
  const teams = directory.existing().filter(({ kind }) => kind === 'team');
  const [from, to] = random.sample(teams, 2);
  if (from === undefined || to === undefined) return;
  const movable = directory
    .membersOf(from)
    .filter((person) => directory.mayLose(from, person) && !directory.isIn(to, person));
  if (movable.length === 0) return;
  const person = random.pick(movable);
  directory.remove(atMs, from, [person], 1);
  directory.add(atMs, to, [person], 2);
}

const circlesOf = (directory: Directory) => directory.existing().filter(({ kind }) => kind === 'circle');

function joinCircle({ directory, random, present }: Scene, atMs: number): void {
  const circle = random.pick(circlesOf(directory));
  const others = [...present].filter((person) => !directory.isIn(circle, person));
  const together = random.below(4) === 0 ? 1 + random.below(3) : 1;
  directory.add(atMs, circle, random.sample(others, together));
}

function leaveCircle({ directory, random }: Scene, atMs: number): void {
  const circle = random.pick(circlesOf(directory));
  const free = directory.membersOf(circle).filter((person) => directory.mayLose(circle, person));
  if (free.length > 0) directory.remove(atMs, circle, [random.pick(free)]);
}

const NEW_NAMES: readonly (readonly [string, string, number])[] = [
  ['People', 'People & Culture', 30],
  ['Team Delta', 'Team Dynamo', 55],
  ['Customer Support', 'Customer Experience', 80],
  ['Running', 'Running and walking', 90],
  ['App: Data warehouse readers', 'App: Warehouse (read only)', 110],
  ['Team Dynamo', 'Team Delta', 130],
  ['Choir', 'Acme choir', 150],
];

/** One team is renamed and renamed back: the latest name counts, not the number of changes. */
function renamings({ directory, groups }: Scene): Beat[] {
  return NEW_NAMES.flatMap(([from, to, onDay]) => {
    const plan = groups.find(({ name }) => name === from || name === to);
    return plan === undefined
      ? []
      : [{ atMs: day(onDay, 9), act: (atMs: number) => directory.saveGroup(atMs, plan, to) }];
  });
}

/** Every few weeks the directory states some groups whole again, as they are. */
function restatements({ directory, groups }: Scene): Beat[] {
  const restated = groups.filter(({ name }) => ['Leadership', 'Legal', 'App: NetSuite'].includes(name));
  return [45, 90, 135, 170].flatMap((onDay) =>
    restated.map((plan, index) => ({
      atMs: day(onDay, 22) + index * 2_000,
      act: (atMs: number) => directory.snapshot(atMs, plan, directory.membersOf(plan)),
    })),
  );
}

/** Two circles end; one is deleted by mistake and made again three days later under the same id. */
function endings(groups: readonly GroupPlan[], { directory, present }: Scene): Beat[] {
  const find = (wanted: string) => groups.filter(({ name }) => name === wanted);
  const ends = (wanted: string, onDay: number) =>
    find(wanted).map((plan) => ({
      atMs: day(onDay, 12),
      act: (at: number) => directory.deleteGroup(at, plan),
    }));
  const mistakes = find('Book club').flatMap((plan) => {
    let members: readonly Person[] = [];
    const lose = (atMs: number) => {
      members = directory.membersOf(plan);
      directory.deleteGroup(atMs, plan);
    };
    const restore = (atMs: number) =>
      directory.restoreGroup(
        atMs,
        plan,
        members.filter((person) => present.has(person)),
      );
    return [
      { atMs: day(40, 15), act: lose },
      { atMs: day(43, 9), act: restore },
    ];
  });
  return [...ends('Offsite planning', 25), ...ends('Office move task force', 45), ...mistakes];
}
