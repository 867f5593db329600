import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupFloor, memberCounts, NO_GROUP } from '../../../shared/domain/group.ts';
import { connectionName, type GroupRef, groupId } from '../../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../../shared/domain/stamp.ts';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { createInterleaving, outsideOfRequests } from './support/interleaving.ts';
import { type Client, clientOf, createWorld } from './support/server.ts';

/*
 * Requests change groups that contain each other. Their table calls are interleaved in a drawn order. A request may
 * crash before any of its calls, and its client then repeats the request. Apply reads a group only after a request has
 * marked the group dirty. So the members at the time of the last mark must equal the final members.
 */

const GROUPS = 3;
const USERS = ['a', 'b'] as const;

const which = fc.nat(GROUPS - 1);
const request = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('nest' as const), outer: which, inner: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('part' as const), outer: which, inner: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('only' as const), outer: which, inner: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), outer: which, inner: which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('join' as const, 'leave' as const),
      outer: which,
      user: fc.constantFrom(...USERS),
    }),
  },
);
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;
const drawn = fc.record({
  before: fc.array(request, { maxLength: 3 }),
  together: fc.array(request, { minLength: 2, maxLength: 4 }),
  picks: fc.array(fc.nat(1_000), { minLength: 20, maxLength: 100 }),
  dies: fc.option(fc.record({ request: fc.nat(3), calls: fc.nat(30) })),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

/** Creates the server with groups and users. The calls of a request wait until the test releases them. */
async function createGroups() {
  const { before, run } = createInterleaving();
  const world = createWorld({ settings: { nested: 'flatten' }, before });
  const { desired, groups } = world.ports;
  const membersOf = async (ref: GroupRef) => {
    const floor = groupFloor((await groups.read(ref))?.registers ?? NO_GROUP);
    const counted = (await groups.members(ref)).filter((one) => memberCounts(one, floor, STAMP_ZERO));
    return counted.map(({ member }) => String(member)).sort();
  };
  /** The members of each group at the time at which the group was last marked dirty. */
  const atLastMark = new Map<string, readonly string[]>();
  const markDirty: typeof desired.markDirty = async (ref, ...how) => {
    const marked = await desired.markDirty(ref, ...how);
    await outsideOfRequests(async () => atLastMark.set(ref.group, await membersOf(ref)));
    return marked;
  };
  const ports = { ...world.ports, desired: { ...desired, markDirty } };
  const client = clientOf(ports, { authorization: `Bearer ${await world.newToken()}` });
  const ids: string[] = [];
  for (let n = 0; n < GROUPS; n += 1) {
    ids.push((await client.post('/Groups', { displayName: `Group ${n}` })).body.id);
  }
  const users = new Map<string, string>();
  for (const userName of USERS) users.set(userName, (await client.post('/Users', { userName })).body.id);
  return { world, client, run, ids, users, atLastMark, membersOf };
}

async function play({ before, together, picks, dies }: Drawn) {
  const { run, client, ids, users, atLastMark, membersOf, world } = await createGroups();
  const send = (one: Request) => sendTo(client, one, { ids, users });
  for (const one of before) await send(one);
  const unanswered = new Set(together);
  const sending = together.map((one, at) => {
    const request = () => send(one).finally(() => unanswered.delete(one));
    return [`r${at}`, request] as const;
  });
  const died = dies === null ? undefined : { by: `r${dies.request}`, calls: dies.calls };
  await run(Object.fromEntries(sending), { picks, died, time: world.time });
  for (const one of unanswered) await send(one);
  for (const id of ids) {
    const members = await membersOf({ connection: connectionName('default'), group: groupId(id) });
    expect(atLastMark.get(id), `what was read of ${id} when it was marked last`).toEqual(members);
  }
}

interface Known {
  readonly ids: readonly string[];
  readonly users: ReadonlyMap<string, string>;
}

function sendTo(client: Client, one: Request, { ids, users }: Known) {
  const outer = `/Groups/${ids[one.outer]}`;
  if ('user' in one) {
    const value = users.get(one.user);
    const leave = remove(`members[value eq "${value}"]`);
    return client.patch(outer, [one.kind === 'join' ? add('members', [{ value }]) : leave]);
  }
  const inner = { value: ids[one.inner], type: 'Group' };
  switch (one.kind) {
    case 'nest':
      return client.patch(outer, [add('members', [inner])]);
    case 'part':
      return client.patch(outer, [remove(`members[value eq "${inner.value}"]`)]);
    case 'only':
      return client.patch(outer, [replace('members', [inner])]);
    default:
      return client.delete(outer);
  }
}

it(
  'each group is marked dirty after the last change of its members, for any order and crash of the requests',
  async () => {
    await fc.assert(fc.asyncProperty(drawn, play), { ...runs(200), endOnFailure: true });
  },
  PATIENCE_MS,
);
