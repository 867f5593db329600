import { expect, it } from 'vitest';
import { type Directory, DirectoryError } from '../../../shared/directory/ports.ts';
import { createMemberQuestions } from '../../../shared/directory/reading/member-questions.ts';
import { readWhole } from '../../../shared/directory/reading/whole-group.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { memberOf, QUIET, readerOf } from './fixture.ts';

const range = (length: number) => Array.from({ length }, (_, n) => n);

/** Returns a directory that counts the membership requests. A membership request is a call of `hasMember`. */
function countingDirectory(members: ReadonlyMap<string, Set<string>>, nowMs: () => number) {
  const asked = { count: 0 };
  const groupOf = (id: string) => ({
    id: groupId(id),
    name: `Group ${id}`,
    address: `${id}@acme.test`,
    userCount: [...(members.get(id) ?? [])].filter((member) => !members.has(member)).length,
  });
  const page = <Item>(items: readonly Item[]) => ({ items, asOfMs: nowMs() });
  const directory: Directory = {
    ...QUIET,
    async *groups() {
      yield page([...members.keys()].map(groupOf));
    },
    group: async (id) => (members.has(id) ? groupOf(id) : undefined),
    async *membersOf(id) {
      yield page([...(members.get(id) ?? [])].map((one) => memberOf(one, members)));
    },
    async hasMember(group, member) {
      asked.count += 1;
      return members.get(group)?.has(member) ?? false;
    },
  };
  return { directory, asked };
}

it('of 201 groups with one nested group that a list lacks, the nested group is still asked about', async () => {
  const { directory } = countingDirectory(new Map(), () => 0);
  const groups = range(201).map((n) => groupId(`g${n}`));
  expect(await createMemberQuestions(directory).unproven([groupId('gone')], groups)).toEqual([]);
});

it.each([
  ['is left out if the directory denies it', 'denied', { users: new Map([['a', expect.anything()]]) }],
  ['makes the read fail if the directory fails', 'unavailable', { kind: 'unavailable' }],
] as const)('a new nested group %s', async (_, kind, expected) => {
  const members = new Map([
    ['outer', new Set(['a', 'theirs'])],
    ['theirs', new Set('b')],
  ]);
  const { directory } = countingDirectory(members, () => 0);
  const group: Directory['group'] = async (id) => {
    if (id === 'theirs') throw new DirectoryError(kind, 'as the test told it');
    return directory.group(id);
  };
  const questions = { unproven: async () => [] } as never;
  const reading = { nested: 'flatten', known: [], listed: new Map(), questions } as const;
  const read = readWhole({ ...directory, group }, groupId('outer'), reading).catch((error: unknown) => error);
  expect(await read).toMatchObject(expected);
});

/** Creates outer groups that contain all `inner` groups. Each inner group has the member `b`. */
async function nested({ outer, inner }: { readonly outer: number; readonly inner: number }) {
  const below = range(inner).map((n) => `inner${n}`);
  const above = range(outer).map((n) => `outer${n}`);
  const members = new Map([
    ...above.map((name) => [name, new Set(['a', ...below])] as const),
    ...below.map((name) => [name, new Set(['b'])] as const),
  ]);
  let asked = { count: 0 };
  const settings = { nested: 'flatten', groups: { include: ['Group outer*'], exclude: [], policies: [] } };
  const reader = await readerOf((nowMs) => {
    const counting = countingDirectory(members, nowMs);
    asked = counting.asked;
    return counting.directory;
  }, settings);
  await reader.hire('a', 'b');
  await reader.run();
  await reader.pass(11 * MINUTE_MS);
  await reader.run();
  await reader.pass(11 * MINUTE_MS);
  /** Runs the reader, which reads every group, and returns the number of membership requests. */
  const questionsOfRun = async () => {
    const before = asked.count;
    const report = await reader.run({ isFull: true });
    await reader.pass(5 * MINUTE_MS);
    return { questions: asked.count - before, report };
  };
  return { reader, members, above, below, questionsOfRun };
}

it('the reader sends at most 200 membership requests per group and run, and removes users after the last answer', async () => {
  const { reader, members, below, questionsOfRun } = await nested({ outer: 1, inner: 40 });
  expect(reader.shown('outer0')).toEqual([['u-a', 'u-b']]);
  for (const child of below.slice(0, 20)) members.get('outer0')?.delete(child);
  for (const child of below.slice(20)) members.get(child)?.delete('b');
  const counts: number[] = [];
  for (let run = 0; run < 5; run += 1) counts.push((await questionsOfRun()).questions);
  // For each removed group, the reader asks about the outer group and the 20 remaining nested groups.
  expect(counts).toEqual([9 * 21, 9 * 21, 2 * 21, 0, 0]);
  expect(reader.shown('outer0')).toEqual([['u-a']]);
});

it("the reader keeps the users of a nested group that the list lacks if the directory confirms the group's membership", async () => {
  const { reader, members, questionsOfRun } = await nested({ outer: 1, inner: 3 });
  const listed = members.get('outer0');
  members.set('outer0', new Set(['a']));
  const isMember = new Set(listed);
  members.set('outer0', Object.assign(new Set(['a']), { has: (one: string) => isMember.has(one) }));
  expect(await questionsOfRun()).toMatchObject({ questions: 1 });
  expect(reader.shown('outer0')).toEqual([['u-a', 'u-b']]);
});

it('the reader starts no more membership requests after 1,000 in one run, and continues in the next run', async () => {
  const { reader, members, above, below, questionsOfRun } = await nested({ outer: 20, inner: 20 });
  for (const outer of above) for (const child of below.slice(0, 10)) members.get(outer)?.delete(child);
  for (const child of below.slice(10)) members.get(child)?.delete('b');
  const first = await questionsOfRun();
  expect(first.questions).toBeGreaterThanOrEqual(1_000);
  // The reader reads eight groups at the same time, and each group needs 110 requests.
  expect(first.questions).toBeLessThan(1_000 + 8 * 110);
  expect(first.report?.waiting).toBeGreaterThan(0);
  const second = await questionsOfRun();
  expect(first.questions + second.questions).toBe(20 * 10 * 11);
  expect(above.flatMap((outer) => reader.shown(outer))).toEqual(above.map(() => ['u-a']));
});
