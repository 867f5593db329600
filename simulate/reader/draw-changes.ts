import { between, type Random, some, weighted } from '../random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type SourceAction } from '../simulation-run.ts';
import type { DirectoryFaultAction } from './faults.ts';
import { GROUPS, LASTING, type Scene, type Timed } from './scene.ts';

const CHANGES_PER_DAY = 7;

type Changing = Exclude<SourceAction, DirectoryFaultAction>;

const CHANGE_WEIGHTS = {
  join: 8,
  leave: 8,
  move: 2,
  turn: 2,
  suspend: 3,
  archive: 1,
  back: 3,
  rename: 2,
  address: 1,
  nest: 2,
  unnest: 2,
  create: 1.5,
  remove: 1.5,
  exodus: 1,
  arrive: 0.5,
  goodbye: 1.5,
};
const WITHOUT_NESTING = { ...CHANGE_WEIGHTS, nest: 0, unnest: 0 };

/** Draws changes of users and groups. */
export function drawChanges(random: Random, scene: Scene): readonly Timed<Changing>[] {
  const { endMs, vendor } = scene;
  const weights = vendor.nests ? CHANGE_WEIGHTS : WITHOUT_NESTING;
  const { all, acts, groups } = createActs(random, scene);
  const count = Math.round((endMs / DAY_MS) * CHANGES_PER_DAY);
  for (let left = count; left > 0; left -= 1) {
    const atMs = between(random, 2 * HOUR_MS, endMs - 3 * HOUR_MS);
    acts[weighted(random, weights)](atMs, random.pick(groups));
  }
  return all.filter(({ atMs }) => atMs > HOUR_MS);
}

type Acts = Readonly<Record<keyof typeof CHANGE_WEIGHTS, (atMs: number, group: string) => void>>;

function createActs(random: Random, { endMs, members, vendor }: Scene) {
  const all: Timed<Changing>[] = [];
  const initial = Array.from({ length: GROUPS }, (_, index) => `k${index}`);
  const groups = initial.filter((id) => id !== vendor.fixedGroup);
  let created = GROUPS;
  let arrived = 0;
  const change = (atMs: number, action: Changing) =>
    all.push({ atMs: Math.min(Math.round(atMs), endMs - 3 * HOUR_MS), action });
  const someone = () => random.pick(members);
  const join = (atMs: number, group: string, member: string) =>
    change(atMs, { kind: 'addMember', group, member, via: random.pick(['console', 'groups']) });
  const leave = (atMs: number, group: string, member: string) =>
    change(atMs, { kind: 'removeMember', group, member, via: random.pick(['console', 'groups']) });
  const later = (atMs: number) => atMs + between(random, MINUTE_MS, DAY_MS);
  const acts: Acts = {
    join: (atMs, group) => join(atMs, group, someone()),
    leave: (atMs, group) => leave(atMs, group, someone()),
    move(atMs, group) {
      const member = someone();
      join(atMs, group, member);
      leave(atMs + between(random, 1_000, HOUR_MS), random.pick(groups), member);
    },
    /** A member leaves a group and joins the group again within minutes. This happens twice. */
    turn(atMs, group) {
      const member = someone();
      for (let at = 0; at < 4; at += 1) {
        const turn = at % 2 === 0 ? leave : join;
        turn(atMs + at * between(random, 1_000, 8 * MINUTE_MS), group, member);
      }
    },
    suspend: (atMs) => change(atMs, { kind: 'suspendUser', user: someone() }),
    archive: (atMs) => change(atMs, { kind: 'archiveUser', user: someone() }),
    back(atMs) {
      const user = someone();
      change(atMs - between(random, 0, DAY_MS), { kind: 'suspendUser', user });
      change(atMs, { kind: 'unsuspendUser', user });
      change(atMs, { kind: 'unarchiveUser', user: someone() });
    },
    rename: (atMs, group) =>
      change(atMs, { kind: 'changeGroup', group, name: `Group ${group} ${random.below(100)}` }),
    address: (atMs, group) =>
      change(atMs, { kind: 'changeGroup', group, email: `${group}.${random.below(100)}@d.test` }),
    nest: (atMs, group) => join(atMs, group, random.pick(groups)),
    unnest: (atMs, group) => leave(atMs, group, random.pick(groups)),
    create(atMs) {
      const id = `k${created}`;
      created += 1;
      groups.push(id);
      const direct = some(random, members, between(random, 0, 4)).map((member) => ({ member }));
      change(atMs, {
        kind: 'addGroup',
        group: { id, email: `${id}@d.test`, name: `Group ${id}`, members: direct },
      });
    },
    remove(atMs) {
      const group = random.pick(groups.filter((one) => !LASTING.includes(one)));
      change(atMs, { kind: 'deleteGroup', group });
      if (vendor.restores && random.chance(0.5)) change(later(atMs), { kind: 'undeleteGroup', group });
    },
    exodus(atMs, group) {
      for (const member of members) leave(atMs + random.below(MINUTE_MS), group, member);
    },
    arrive(atMs, group) {
      arrived += 1;
      const id = `new${arrived}`;
      change(atMs, { kind: 'addUser', user: { id, primaryEmail: `${id}@d.test` } });
      join(atMs + between(random, 1_000, HOUR_MS), group, id);
    },
    goodbye(atMs) {
      const user = someone();
      if (vendor.deactivatesFirst) {
        change(atMs - between(random, 1_000, HOUR_MS), { kind: 'archiveUser', user });
      }
      change(atMs, { kind: 'deleteUser', user });
      if (!vendor.restores) return;
      const kind = weighted(random, { undeleteUser: 1, purgeUser: 1, none: 1 });
      if (kind !== 'none') change(later(atMs), { kind, user });
    },
  };
  return { all, acts, groups };
}
