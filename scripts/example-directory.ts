import type { GroupPlan } from './example-groups.ts';
import { emailOf, type Person } from './example-people.ts';

/** One line of the example, before it has its id and its text form. */
export interface PlannedEvent {
  readonly atMs: number;
  /** Order within one instant; absent where an instant has one event. */
  readonly sequence?: number;
  readonly type: string;
  readonly data: object;
}

interface DirectoryGroup {
  readonly plan: GroupPlan;
  name: string;
  readonly members: Set<Person>;
  /** Every earlier membership: what a removal is measured against. */
  history: ReadonlySet<Person>[];
}

/** Largest share and number of a group's members that may be gone between any two moments of the story. */
const MAX_SHARE_LOST = 0.4;
const MAX_LOST = 60;

/** The example company's directory while its story runs: it keeps the state and writes down every event. */
export function makeDirectory() {
  const events: PlannedEvent[] = [];
  const groups = new Map<GroupPlan, DirectoryGroup>();
  const emails = new Map<Person, string>();

  const emit = (event: PlannedEvent) => void events.push(event);
  const remember = (group: DirectoryGroup) => void group.history.push(new Set(group.members));
  const groupOf = (plan: GroupPlan): DirectoryGroup => {
    const group = groups.get(plan);
    if (group === undefined) throw new Error(`expected a group that exists, got ${plan.id}`);
    return group;
  };
  /** An event names a member by id and address, so that each can be matched whatever arrives first. */
  const member = (person: Person) => ({ id: person.memberId, email: emails.get(person) ?? '' });
  const data = (plan: GroupPlan, people: readonly Person[]) => ({
    group: { id: plan.id },
    members: people.map(member),
  });

  return {
    events,
    existing: (): readonly GroupPlan[] => [...groups.keys()],
    isIn: (plan: GroupPlan, person: Person) => groupOf(plan).members.has(person),
    membersOf: (plan: GroupPlan): readonly Person[] => [...groupOf(plan).members],

    /** Whether nobody could take the loss of this member for a mass removal. */
    mayLose(plan: GroupPlan, person: Person): boolean {
      const group = groupOf(plan);
      return group.history.every((before) => {
        const lost = [...before].filter((one) => one === person || !group.members.has(one)).length;
        return lost <= MAX_LOST && lost <= before.size * MAX_SHARE_LOST;
      });
    },

    saveUser(atMs: number, person: Person, lastName: string): void {
      const email = emailOf(person.firstName, lastName);
      emails.set(person, email);
      const name = `${person.firstName} ${lastName}`;
      const employeeNumber = String(person.number);
      const user = { id: person.memberId, email, userName: email, employeeNumber, name };
      emit({ atMs, type: 'directory.user.upserted', data: { user } });
    },

    deleteUser(atMs: number, person: Person): void {
      for (const group of groups.values()) if (group.members.delete(person)) remember(group);
      emit({ atMs, type: 'directory.user.deleted', data: { user: { id: person.memberId } } });
    },

    saveGroup(atMs: number, plan: GroupPlan, name = plan.name): void {
      const group = groups.get(plan) ?? { plan, name, members: new Set(), history: [] };
      group.name = name;
      groups.set(plan, group);
      emit({ atMs, type: 'directory.group.upserted', data: { group: { id: plan.id, name } } });
    },

    deleteGroup(atMs: number, plan: GroupPlan): void {
      groups.delete(plan);
      emit({ atMs, type: 'directory.group.deleted', data: { group: { id: plan.id } } });
    },

    /** Makes a group that was deleted again, with its members in the same event: at no moment is it there empty. */
    restoreGroup(atMs: number, plan: GroupPlan, people: readonly Person[]): void {
      groups.set(plan, { plan, name: plan.name, members: new Set(people), history: [new Set(people)] });
      const { group, members } = data(plan, people);
      const named = { group: { ...group, name: plan.name }, members };
      emit({ atMs, type: 'directory.group.snapshot', data: named });
    },

    /** States a group whole, in parts of `partSize` members where it is larger than that. */
    snapshot(atMs: number, plan: GroupPlan, people: readonly Person[], partSize = 150): void {
      const group = groupOf(plan);
      for (const person of people) group.members.add(person);
      remember(group);
      const count = Math.max(1, Math.ceil(people.length / partSize));
      for (let index = 0; index < count; index += 1) {
        const snapshot = data(plan, people.slice(index * partSize, (index + 1) * partSize));
        const part = { snapshotId: `${plan.id}-${atMs}`, index, count };
        const type = 'directory.group.snapshot';
        emit({ atMs: atMs + index * 1_000, type, data: count === 1 ? snapshot : { ...snapshot, part } });
      }
    },

    add(atMs: number, plan: GroupPlan, people: readonly Person[], sequence?: number): void {
      const group = groupOf(plan);
      for (const person of people) group.members.add(person);
      remember(group);
      const type = 'directory.group.member.added';
      emit({ atMs, type, data: data(plan, people), ...(sequence !== undefined && { sequence }) });
    },

    remove(atMs: number, plan: GroupPlan, people: readonly Person[], sequence?: number): void {
      const group = groupOf(plan);
      for (const person of people) group.members.delete(person);
      remember(group);
      const type = 'directory.group.member.removed';
      emit({ atMs, type, data: data(plan, people), ...(sequence !== undefined && { sequence }) });
    },
  };
}

export type Directory = ReturnType<typeof makeDirectory>;
