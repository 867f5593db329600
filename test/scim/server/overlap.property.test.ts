import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { createInterleaving } from './support/interleaving.ts';
import { type Answer, type Client, createWorld } from './support/server.ts';

/*
 * Several requests change one group. Their table calls are interleaved in a drawn order. A request may crash before any
 * of its calls. A crashed request gets no answer.
 */

/** The list is so large that the server may write a change of the list as a difference. */
const BASE = Array.from({ length: 104 }, (_, n) => `m${n}`);
const FIRST_VERSION = 1;

const valuesOf = (ids: Iterable<string>) => [...ids].map((value) => ({ value }));
const sorted = (ids: Iterable<string>): string => [...ids].sort().join();

const some = fc.subarray([0, 1, 2, 3], { maxLength: 3 }).map((which) => which.map((n) => `m${n}`));
/** Every write adds a different member, so each write changes the list. */
const write = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('put', 'replace'), without: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('small'), without: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change'), without: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('locked'), without: some }) },
);
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;
const plan = fc.record({
  writes: fc.array(write, { minLength: 2, maxLength: 4 }),
  reads: fc.integer({ min: 1, max: 8 }),
  picks: fc.array(fc.nat(1_000), { minLength: 20, maxLength: 200 }),
});
const crash = fc.record({ write: fc.nat(3), calls: fc.nat(120) });

/** Returns the list after a write. `list` is the list that the client read before a write with If-Match. */
function listAfter({ kind, without }: Write, own: string, list: ReadonlySet<string>): Set<string> {
  const kept = (ids: Iterable<string>) => [...ids].filter((id) => !without.includes(id));
  if (kind === 'small') return new Set([...kept(['m0', 'm1', 'm2', 'm3']), own]);
  if (kind === 'put' || kind === 'replace') return new Set([...kept(BASE), own]);
  return new Set([...kept(list), own]);
}

interface Ended {
  readonly which: number;
  readonly version: number;
  /** The version that the client sent in If-Match. */
  readonly from?: number;
}

const versionOf = ({ headers }: Answer): number | undefined => {
  const [, version] = /^W\/"(\d+)"$/.exec(headers['etag'] ?? '') ?? [];
  return version === undefined ? undefined : Number(version);
};

async function play(writes: readonly Write[], { reads, picks, died }: Drawn) {
  const { before, run } = createInterleaving();
  const world = createWorld({ before });
  const client = await world.client();
  const made = await client.post('/Groups', { displayName: 'G', members: valuesOf(BASE) });
  const group = `/Groups/${made.body.id}`;

  const lists = new Map<string, string>();
  const faults: string[] = [];
  const ended: Ended[] = [];
  const note = (answer: Answer) => {
    if (answer.status !== 200 || answer.body?.members === undefined) return;
    const { etag = '' } = answer.headers;
    const list = sorted(answer.body.members.map(({ value }: { value: string }) => value));
    if (answer.body.meta.version !== etag)
      faults.push(`${etag} and ${answer.body.meta.version} in one answer`);
    if ((lists.get(etag) ?? list) !== list) faults.push(`two lists under ${etag}`);
    lists.set(etag, list);
  };
  const done = (which: number, answer: Answer, from?: number) => {
    if (answer.status >= 300)
      return answer.status === 412 ? undefined : faults.push(`status ${answer.status}`);
    note(answer);
    const version = versionOf(answer);
    if (answer.status === 204 && version !== undefined) ended.push({ which, version, ...(from && { from }) });
    return undefined;
  };

  const writer = async (one: Write, which: number) => {
    const own = `x${which}`;
    const send = (method: 'put' | 'patch', body: unknown, headers = {}) =>
      method === 'patch'
        ? client.send('PATCH', group, { Operations: body }, headers)
        : client.send('PUT', `${group}?attributes=displayName`, { displayName: 'G', members: body }, headers);
    const whole = valuesOf(listAfter(one, own, new Set()));
    // A PUT asks only for displayName, because the list in its answer may already be the list of another write. So its
    // 200 counts as a 204.
    if (one.kind === 'put' || one.kind === 'small') {
      const answer = await send('put', whole);
      return done(which, { ...answer, status: answer.status === 200 ? 204 : answer.status });
    }
    if (one.kind === 'replace') return done(which, await send('patch', [replace('members', whole)]));
    if (one.kind === 'change') {
      const leaves = one.without.map((id) => remove(`members[value eq "${id}"]`));
      return done(which, await send('patch', [...leaves, add('members', valuesOf([own]))]));
    }
    const read = await client.get(group);
    note(read);
    const list = new Set<string>(read.body.members.map(({ value }: { value: string }) => value));
    const ifMatch = { 'if-match': read.headers['etag'] ?? '' };
    const answer = await send('put', valuesOf(listAfter(one, own, list)), ifMatch);
    const from = versionOf(read);
    if (from === undefined && answer.status < 300)
      faults.push(`If-Match ${ifMatch['if-match']} was accepted`);
    return done(which, { ...answer, status: answer.status === 200 ? 204 : answer.status }, from);
  };
  const reader = async () => {
    for (let n = 0; n < reads; n += 1) {
      const answer = await client.get(group);
      note(answer);
      const tag = answer.headers['etag'] ?? '';
      const again = await client.get(group, { 'if-none-match': tag });
      if (again.status === 304 && versionOf(answer) === undefined) faults.push(`304 for ${tag}`);
      note(again);
    }
  };

  const writing = writes.map((one, which) => [`w${which}`, () => writer(one, which)] as const);
  const thrown = await run(
    { reader, ...Object.fromEntries(writing) },
    {
      picks,
      died: died && { by: `w${died.write}`, calls: died.calls },
      atOnce: (pick) => 1 + (pick % 3) * 20,
      time: world.time,
    },
  );
  faults.push(...thrown);
  return { world, client, group, lists, faults, ended };
}

interface Drawn {
  readonly reads: number;
  readonly picks: readonly number[];
  readonly died?: { readonly write: number; readonly calls: number };
}

const listOf = async (client: Client, group: string) => {
  const answer = await client.get(group);
  const list = sorted(answer.body.members.map(({ value }: { value: string }) => value));
  return { list, etag: answer.headers['etag'] ?? '', version: versionOf(answer) };
};

/** Computes the list at a version: the result of all writes up to this version, in the order of their versions. */
function listAt(at: number, writes: readonly Write[], ended: readonly Ended[]): string {
  let list = new Set(BASE);
  for (const { which, version } of ended.toSorted((a, b) => a.version - b.version))
    if (version <= at) list = listAfter(writes[which] as Write, `x${which}`, list);
  return sorted(list);
}

it(
  'interleaved requests have the same result as the same requests one after the other in the order of their versions',
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ writes, ...drawn }) => {
        const { world, client, group, lists, faults, ended } = await play(writes, drawn);
        expect(faults).toEqual([]);
        expect(new Set(ended.map(({ version }) => version)).size).toBe(ended.length);
        // No other write may be between the version that If-Match names and the version of the write.
        for (const { version: to, from = to } of ended)
          expect(ended.filter(({ version }) => from < version && version < to)).toEqual([]);
        for (const [etag, list] of lists) {
          const [, version] = /^W\/"(\d+)"$/.exec(etag) ?? [];
          if (version !== undefined)
            expect([etag, list]).toEqual([etag, listAt(Number(version), writes, ended)]);
        }
        const last = Math.max(FIRST_VERSION, ...ended.map(({ version }) => version));
        const now = await listOf(client, group);
        expect(now.list).toBe(listAt(last, writes, ended));
        expect(now.version).toBeGreaterThanOrEqual(last);
        const wanted = await world.desired(group.slice('/Groups/'.length));
        expect(sorted(wanted?.members ?? [])).toBe(now.list);
      }),
      { ...runs(120), endOnFailure: true },
    );
  },
  PATIENCE_MS,
);

it(
  'a crash of one request loses no acknowledged change, and later requests can write the group',
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, crash, fc.boolean(), async ({ writes, ...drawn }, died, isWhole) => {
        const dead = { ...died, write: died.write % writes.length };
        const { world, client, group, lists, faults, ended } = await play(writes, { ...drawn, died: dead });
        expect(faults).toEqual([]);
        const kindOf = (which: number) => writes[which]?.kind ?? '';
        const isDelta = (which: number) => kindOf(which) === 'change';
        const later = (at: number) => ended.filter(({ version }) => version > at).map(({ which }) => which);
        const wasReplaced = (at: number) => !later(at).every(isDelta) || !isDelta(dead.write);
        const safe = ended.filter(({ version }) => !wasReplaced(version)).map(({ which }) => `x${which}`);
        const held = await listOf(client, group);
        expect(held.list.split(',')).toEqual(expect.arrayContaining(safe));

        if (isWhole) {
          // The next write of a whole list replaces the data of the crashed request.
          const put = await client.put(group, { displayName: 'G', members: valuesOf(['m7', 'm8']) });
          expect(put.status).toBe(200);
          const now = await listOf(client, group);
          expect(now).toMatchObject({ list: 'm7,m8', version: expect.any(Number) });
          expect(lists.has(now.etag)).toBe(false);
          return;
        }
        world.time.nowMs += 61_000;
        const now = await listOf(client, group);
        // The next read of the group completes a crashed write of a whole list. Other crashed writes stay incomplete.
        const left = now.list.split(',');
        expect(left).toEqual(expect.arrayContaining(safe));
        if (isDelta(dead.write)) expect(now.list).toBe(held.list);
        expect(await listOf(client, group)).toEqual(now);
        expect(now.version).toEqual(expect.any(Number));
        expect(lists.get(now.etag) ?? now.list).toBe(now.list);
        const ids = [...now.list.split(','), 'late'];
        const ifMatch = { 'if-match': now.etag };
        const put = await client.put(group, { displayName: 'G', members: valuesOf(ids) }, ifMatch);
        expect(put.status).toBe(200);
        expect((await listOf(client, group)).list).toBe(sorted(ids));
        const wanted = await world.desired(group.slice('/Groups/'.length));
        expect(sorted(wanted?.members ?? [])).toBe(sorted(ids));
      }),
      { ...runs(120), endOnFailure: true },
    );
  },
  PATIENCE_MS,
);
