import fc from 'fast-check';
import { expect } from 'vitest';
import { always } from '../../support/engine/runs.ts';
import { type RawEvent, readDirectory } from '../../support/reading.ts';
import { remove, replace } from '../../support/scim-operations.ts';
import { type Client, createWorld } from './support/server.ts';

/*
 * SCIM requests must have the same result as the equivalent native events. This test derives the events from the
 * changes that the client intends. The reference model, which shares no code with the engine, reads the events.
 */

const USERS = ['u0', 'u1', 'u2', 'u3'];
const GROUPS = [0, 1, 2];

const someUsers = fc.subarray(USERS);
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), group: fc.constantFrom(...GROUPS), members: someUsers }),
  fc.record({ kind: fc.constant('delete' as const), group: fc.constantFrom(...GROUPS) }),
  fc.record({
    kind: fc.constant('rename' as const),
    group: fc.constantFrom(...GROUPS),
    pathless: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('add' as const), group: fc.constantFrom(...GROUPS), members: someUsers }),
  fc.record({
    kind: fc.constant('remove' as const),
    group: fc.constantFrom(...GROUPS),
    members: someUsers,
    filtered: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('put' as const), group: fc.constantFrom(...GROUPS), members: someUsers }),
  fc.record({ kind: fc.constant('push' as const), group: fc.constantFrom(...GROUPS), members: someUsers }),
  fc.record({ kind: fc.constant('clear' as const), group: fc.constantFrom(...GROUPS) }),
  fc.record({ kind: fc.constant('switch' as const), user: fc.constantFrom(...USERS), on: fc.boolean() }),
  fc.record({ kind: fc.constant('leave' as const), user: fc.constantFrom(...USERS) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Stores the member lists that the client intends, and the equivalent native events. */
function createTeller() {
  const events: RawEvent[] = [];
  const lists = new Map<string, Set<string>>();
  const off = new Set<string>();
  const deliver = (type: string, data: RawEvent['data']) =>
    void events.push({
      specversion: '1.0',
      id: 'e',
      source: 's',
      type: `directory.${type}`,
      time: '2026-11-20T10:00:00Z',
      sequence: String(events.length),
      data,
    });
  const counting = (members: Iterable<string>) =>
    [...members].filter((id) => !off.has(id)).map((id) => ({ id }));
  return {
    events,
    lists,
    create(id: string, name: string, members: readonly string[]) {
      lists.set(id, new Set(members));
      deliver('group.snapshot', { group: { id, name }, members: counting(members) });
    },
    remove(id: string, members: readonly string[]) {
      for (const member of members) lists.get(id)?.delete(member);
      deliver('group.member.removed', { group: { id }, members: members.map((member) => ({ id: member })) });
    },
    add(id: string, members: readonly string[]) {
      for (const member of members) lists.get(id)?.add(member);
      deliver('group.member.added', { group: { id }, members: counting(members) });
    },
    replace(id: string, members: readonly string[]) {
      lists.set(id, new Set(members));
      deliver('group.snapshot', { group: { id }, members: counting(members) });
    },
    rename: (id: string, name: string) => deliver('group.upserted', { group: { id, name } }),
    end(id: string) {
      lists.delete(id);
      deliver('group.deleted', { group: { id } });
    },
    /**
     * Deactivating a user is equivalent to the deletion of the user. Activating the user is equivalent to adding the
     * user to every group that still lists the user.
     */
    switch(user: string, on: boolean) {
      if (on) off.delete(user);
      else off.add(user);
      if (!on) deliver('user.deleted', { user: { id: user } });
      else
        for (const [id, members] of lists)
          if (members.has(user)) deliver('group.member.added', { group: { id }, members: [{ id: user }] });
    },
    leave(user: string) {
      for (const members of lists.values()) members.delete(user);
      deliver('user.deleted', { user: { id: user } });
    },
  };
}

interface Scene {
  readonly client: Client;
  readonly teller: ReturnType<typeof createTeller>;
  /** The server's id for each name that the test uses. */
  readonly users: Map<string, string>;
  readonly groups: Map<number, string>;
}

type UserStep = Extract<Step, { user: string }>;
type GroupStep = Exclude<Step, UserStep>;

async function playUser(one: UserStep, { client, teller, users }: Scene): Promise<void> {
  const user = users.get(one.user);
  if (user === undefined) return;
  if (one.kind === 'switch') {
    await client.patch(`/Users/${user}`, [replace('active', one.on ? 'True' : 'False')]);
    teller.switch(user, one.on);
  } else {
    await client.delete(`/Users/${user}`);
    teller.leave(user);
    users.delete(one.user);
  }
}

async function playGroup(one: GroupStep, name: string, scene: Scene): Promise<void> {
  const { client, teller, users, groups } = scene;
  const id = groups.get(one.group);
  const members = 'members' in one ? one.members.flatMap((user) => users.get(user) ?? []) : [];
  const values = members.map((value) => ({ value }));
  if (one.kind === 'create') {
    if (id !== undefined) return;
    const { body } = await client.post('/Groups', { displayName: name, members: values });
    groups.set(one.group, body.id);
    teller.create(body.id, name, members);
    return;
  }
  if (id === undefined) return;
  if (one.kind === 'delete') groups.delete(one.group);
  for (const [method, body] of requestsOf(one, { id, name, members }))
    await client.send(method, `/Groups/${id}`, body);
  deliver(one, { id, name, members }, teller);
}

interface Meant {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
}

function requestsOf(one: GroupStep, { id, name, members }: Meant): readonly (readonly [string, unknown])[] {
  const patch = (operation: object) => ['PATCH', { Operations: [operation] }] as const;
  const value = members.map((member) => ({ value: member }));
  switch (one.kind) {
    case 'delete':
      return [['DELETE', undefined]];
    case 'put':
      return [['PUT', { displayName: name, members: value }]];
    case 'rename':
      return one.pathless
        ? [patch({ op: 'replace', value: { id, displayName: name } })]
        : [patch({ op: 'Replace', path: 'displayName', value: name })];
    case 'remove':
      return one.filtered
        ? members.map((member) => patch(remove(`members[value eq "${member}"]`)))
        : [patch({ op: 'Remove', path: 'members', value })];
    case 'clear':
      return [patch(remove('members'))];
    default:
      return [patch({ op: one.kind === 'add' ? 'Add' : 'replace', path: 'members', value })];
  }
}

function deliver(one: GroupStep, { id, name, members }: Meant, teller: Scene['teller']): void {
  if (one.kind === 'delete') teller.end(id);
  if (one.kind === 'rename' || one.kind === 'put') teller.rename(id, name);
  if (one.kind === 'add') teller.add(id, members);
  if (one.kind === 'remove') teller.remove(id, members);
  if (one.kind === 'put' || one.kind === 'push') teller.replace(id, members);
  if (one.kind === 'clear') teller.replace(id, []);
}

async function play(steps: readonly Step[]) {
  const world = createWorld();
  const client = await world.client();
  const scene: Scene = { client, teller: createTeller(), users: new Map(), groups: new Map() };
  for (const name of USERS) scene.users.set(name, (await client.post('/Users', { userName: name })).body.id);
  for (const [index, one] of steps.entries()) {
    // The clock may also stop or go back.
    world.time.nowMs += [0, 5, -3, 1][index % 4] ?? 0;
    if ('user' in one) await playUser(one, scene);
    else await playGroup(one, `G${index}`, scene);
  }
  return { world, ...scene };
}

always(
  'any SCIM requests result in the same desired state as the equivalent native events',
  fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
    const { world, client, teller } = await play(steps);
    const read = readDirectory(teller.events);
    const { body } = await client.get('/Groups?count=500');
    expect(body.Resources.map(({ id }: { id: string }) => id).sort()).toEqual([...read.groups.keys()].sort());
    for (const [id, group] of read.groups) {
      expect(await world.desired(id)).toEqual({ name: group.name, members: [...group.members].sort() });
    }
    const groupIds = new Set(teller.events.flatMap(({ data }) => data.group?.id ?? []));
    for (const id of groupIds) {
      if (!read.groups.has(id)) expect(await world.desired(id)).toBeUndefined();
    }
    for (const { id, displayName, members } of body.Resources) {
      expect(displayName).toBe(read.groups.get(id)?.name);
      const listed = (members as { value: string }[]).map(({ value }) => value);
      expect(listed.sort()).toEqual([...(teller.lists.get(id) ?? [])].sort());
    }
  }),
);
