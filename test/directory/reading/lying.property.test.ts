import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Directory,
  DirectoryError,
  type DirectoryErrorKind,
  type DirectoryGroup,
  type DirectoryMember,
} from '../../../shared/directory/ports.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../support/engine/world.ts';
import { add } from '../../support/scim-operations.ts';
import { type Body, memberOf, QUIET, readerOf } from './fixture.ts';
import { clientNextTo } from './scim-client.ts';

const LIES = ['breaks', 'short', 'empty', 'hidden', 'few', 'denied', 'invalid'] as const;
const LIE = fc.constantFrom('none', 'none', 'none', ...LIES);
type Lie = 'none' | (typeof LIES)[number];

const fails = (kind: DirectoryErrorKind) => new DirectoryError(kind, `the answer is ${kind}`);

type Truth = Map<string, Set<string>>;

interface Vendor {
  readonly countsWith: 'group' | 'page';
  readonly resets: boolean;
  readonly lagMs: number;
}

/**
 * The differences between vendors. Google shows the count with the group. Here the count includes groups, because a
 * count of users only does not prove a list with nested groups. Entra ID counts users and groups, and shows the counts
 * with the first page of members. Entra ID may lose changes, and each of its answers may lag.
 */
const VENDORS: Readonly<Record<'google' | 'entra', Vendor>> = {
  google: { countsWith: 'group', resets: false, lagMs: 0 },
  entra: { countsWith: 'page', resets: true, lagMs: 10 * MINUTE_MS },
};
const NAMES = ['google', 'entra'] as const;

interface Lying extends Vendor {
  readonly lies: Lie[];
  readonly nowMs: () => number;
}

/** Returns the direct members of a group that are users. */
const directUsers = (truth: Truth, group: string): readonly string[] =>
  [...(truth.get(group) ?? [])].filter((member) => !truth.has(member));

/** Returns a directory whose next answers have the drawn faults. It never shows a group as empty twice in a row. */
function lyingDirectory(truth: Truth, { lies, nowMs, countsWith, resets, lagMs }: Lying): Directory {
  const lastEmpty = new Set<string>();
  const take = () => lies.shift() ?? 'none';
  const countsOf = (id: string) => {
    const userCount = directUsers(truth, id).length;
    return { userCount, groupCount: (truth.get(id)?.size ?? 0) - userCount };
  };
  const counts = (id: string) => (countsWith === 'page' ? countsOf(id) : {});
  const groupOf = (id: string): DirectoryGroup => ({
    id: groupId(id),
    name: `Group ${id}`,
    address: `${id}@acme.test`,
    userCount: countsWith === 'group' ? truth.get(id)?.size : undefined,
  });
  const page = <Item>(items: readonly Item[]) => ({ items, asOfMs: nowMs() });
  const fail = (lie: Lie) => {
    if (lie === 'denied' || lie === 'invalid') throw fails(lie);
    if (lie === 'breaks') throw fails('unavailable');
  };
  return {
    ...QUIET,
    async *groups() {
      const lie = take();
      fail(lie);
      const ids = [...truth.keys()];
      yield page((lie === 'few' ? ids.slice(0, 1) : ids).map(groupOf));
    },
    async group(id) {
      const lie = take();
      fail(lie);
      return lie === 'hidden' || !truth.has(id) ? undefined : groupOf(id);
    },
    async *membersOf(id) {
      const lie = take();
      const members = [...(truth.get(id) ?? [])].map((one) => memberOf(one, truth));
      if (lie === 'empty' && !lastEmpty.has(id)) {
        lastEmpty.add(id);
        yield { ...page<DirectoryMember>([]), ...counts(id) };
        return;
      }
      lastEmpty.delete(id);
      yield { ...page(members.slice(0, 1)), ...counts(id) };
      if (lie === 'short') return;
      fail(lie);
      yield page(members.slice(1));
    },
    async hasMember(group, member) {
      fail(take());
      return truth.get(group)?.has(member) ?? false;
    },
    changesSince: async () => ({ ...(await QUIET.changesSince()), isReset: resets && take() === 'invalid' }),
    lagMs,
  };
}

/** Returns the users of a group and of all groups within it. */
const usersIn = (truth: Truth, group: string): readonly string[] => [
  ...new Set(
    [...(truth.get(group) ?? [])].flatMap((member) =>
      truth.has(member) ? usersIn(truth, member) : [member],
    ),
  ),
];

function removedBy({ type, data }: Body, truth: Truth): readonly string[] {
  const members = new Set((data.members ?? []).map(({ id }) => id));
  const inTruth = usersIn(truth, data.group?.id ?? '');
  if (type === 'directory.group.deleted') return inTruth;
  if (type === 'directory.group.member.removed') return inTruth.filter((id) => members.has(id));
  if (type === 'directory.group.snapshot') return inTruth.filter((id) => !members.has(id));
  return [];
}

const SETTINGS = { nested: 'flatten', directory: { kind: 'google', administrator: 'admin@acme.test' } };

/** The action of another source between two runs of the reader. */
const PUSH = fc.constantFrom('none', 'removes', 'empties', 'deletes', 'scim adds', 'scim empties');

it.each(NAMES)(
  'wrong answers of a directory like %s remove no member of any group, alone or with events and a SCIM client',
  async (vendor) => {
    const faults = fc.array(LIE, { minLength: 5, maxLength: 40 });
    const alone = fc.constant(Array.from({ length: 12 }, () => 'none' as const));
    const pushes = fc.oneof(fc.array(PUSH, { minLength: 6, maxLength: 6 }), alone);
    await fc.assert(
      fc.asyncProperty(faults, pushes, async (given, pushed) => {
        const truth: Truth = new Map([
          ['rowing', new Set(['a', 'b'])],
          ['sport', new Set(['rowing', 'c'])],
          ['none', new Set<string>()],
        ]);
        const lies: Lie[] = [];
        const liar = (nowMs: () => number) => lyingDirectory(truth, { ...VENDORS[vendor], lies, nowMs });
        const reader = await readerOf(liar, SETTINGS);
        await reader.hire('a', 'b', 'c', 'd');
        await reader.run();
        await reader.pass(MINUTE_MS);
        const client = await clientNextTo(reader);
        const emails = [{ value: 'd@acme.test', type: 'work' }];
        const user = (await client.post('/Users', { userName: 'd', emails })).body.id;
        const group = (await client.post('/Groups', { displayName: 'Group rowing' })).body.id;
        const push: Readonly<Record<string, () => Promise<unknown>>> = {
          none: async () => undefined,
          removes: () => reader.deliver({ take: ['b'], from: 'sport' }),
          empties: () => reader.deliver({ snapshot: 'rowing', of: [] }),
          deletes: () => reader.deliver({ remove: 'sport' }),
          'scim adds': () => client.patch(`/Groups/${group}`, [add('members', [{ value: user }])]),
          'scim empties': () => client.patch(`/Groups/${group}`, [{ op: 'remove', path: 'members' }]),
        };
        const shown = () => ['rowing', 'sport', 'none'].map((name) => reader.shown(name));
        reader.takeSent();
        lies.push(...given);
        for (const kind of pushed) {
          await push[kind]?.();
          // A failed run causes an alarm and has no effect on the groups.
          await reader.run({ isFull: true }).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
          for (const event of reader.takeSent()) expect(removedBy(event, truth)).toEqual([]);
          await reader.pass(11 * MINUTE_MS);
          expect(shown()).toEqual([[['u-a', 'u-b']], [['u-a', 'u-b', 'u-c']], [[]]]);
        }
        lies.splice(0);
        truth.get('rowing')?.delete('a');
        await reader.pass(DAY_MS);
        for (let run = 0; run < 4; run += 1) {
          await reader.run();
          await reader.pass(11 * MINUTE_MS);
        }
        // After the next reads that agree, no former member is left, and no group exists twice.
        expect(shown()).toEqual([[['u-b']], [['u-b', 'u-c']], [[]]]);
        expect(reader.world.platform.groups.size).toBe(3);
      }),
      { numRuns: 12 },
    );
  },
);
