import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RawEvent, readDirectory } from '../../support/reading.ts';
import { createWorld } from './support/server.ts';

/*
 * Requests mean what the same changes mean as native events. The events are written down here by the rules of the
 * contract, from what a client has in mind, and are read by a reader that shares no code with the engine.
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

/** What the client has in mind, and the events that tell it. */
function createTeller() {
  const events: RawEvent[] = [];
  const lists = new Map<string, Set<string>>();
  const off = new Set<string>();
  const tell = (type: string, data: RawEvent['data']) =>
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
      tell('group.snapshot', { group: { id, name }, members: counting(members) });
    },
    remove(id: string, members: readonly string[]) {
      for (const member of members) lists.get(id)?.delete(member);
      tell('group.member.removed', { group: { id }, members: members.map((member) => ({ id: member })) });
    },
    add(id: string, members: readonly string[]) {
      for (const member of members) lists.get(id)?.add(member);
      tell('group.member.added', { group: { id }, members: counting(members) });
    },
    replace(id: string, members: readonly string[]) {
      lists.set(id, new Set(members));
      tell('group.snapshot', { group: { id }, members: counting(members) });
    },
    rename: (id: string, name: string) => tell('group.upserted', { group: { id, name } }),
    end(id: string) {
      lists.delete(id);
      tell('group.deleted', { group: { id } });
    },
    /** Switching off deletes, switching on adds the user to every group that still lists them. */
    switch(user: string, on: boolean) {
      if (on) off.delete(user);
      else off.add(user);
      if (!on) tell('user.deleted', { user: { id: user } });
      else
        for (const [id, members] of lists)
          if (members.has(user)) tell('group.member.added', { group: { id }, members: [{ id: user }] });
    },
    leave(user: string) {
      for (const members of lists.values()) members.delete(user);
      tell('user.deleted', { user: { id: user } });
    },
  };
}

async function play(steps: readonly Step[]) {
  const world = createWorld();
  const client = await world.client();
  const teller = createTeller();
  const ids = new Map<string, string>();
  for (const name of USERS) ids.set(name, (await client.post('/Users', { userName: name })).body.id);
  const groups = new Map<number, string>();
  let names = 0;
  const users = (members: readonly string[]) => members.flatMap((name) => ids.get(name) ?? []);
  for (const [index, one] of steps.entries()) {
    // Clocks go back and stand still.
    world.time.nowMs += [0, 5, -3, 1][index % 4] ?? 0;
    if (one.kind === 'switch' || one.kind === 'leave') {
      const user = ids.get(one.user);
      if (user === undefined) continue;
      if (one.kind === 'switch') {
        await client.patch(`/Users/${user}`, [
          { op: 'replace', path: 'active', value: one.on ? 'True' : 'False' },
        ]);
        teller.switch(user, one.on);
      } else {
        await client.delete(`/Users/${user}`);
        teller.leave(user);
        ids.delete(one.user);
      }
      continue;
    }
    const id = groups.get(one.group);
    if (one.kind === 'create') {
      if (id !== undefined) continue;
      names += 1;
      const members = users(one.members);
      const { body } = await client.post('/Groups', {
        displayName: `G${names}`,
        members: members.map((value) => ({ value })),
      });
      groups.set(one.group, body.id);
      teller.create(body.id, `G${names}`, members);
    } else if (id !== undefined) {
      const members = 'members' in one ? users(one.members) : [];
      const values = members.map((value) => ({ value }));
      const path = `/Groups/${id}`;
      names += 1;
      const name = `G${names}`;
      switch (one.kind) {
        case 'delete':
          await client.delete(path);
          teller.end(id);
          groups.delete(one.group);
          break;
        case 'rename':
          await client.patch(path, [
            one.pathless
              ? { op: 'replace', value: { id, displayName: name } }
              : { op: 'Replace', path: 'displayName', value: name },
          ]);
          teller.rename(id, name);
          break;
        case 'add':
          await client.patch(path, [{ op: 'Add', path: 'members', value: values }]);
          teller.add(id, members);
          break;
        case 'remove':
          if (one.filtered)
            for (const member of members)
              await client.patch(path, [{ op: 'remove', path: `members[value eq "${member}"]` }]);
          else await client.patch(path, [{ op: 'Remove', path: 'members', value: values }]);
          teller.remove(id, members);
          break;
        case 'put':
          await client.put(path, { displayName: name, members: values });
          teller.rename(id, name);
          teller.replace(id, members);
          break;
        case 'push':
          await client.patch(path, [{ op: 'replace', path: 'members', value: values }]);
          teller.replace(id, members);
          break;
        case 'clear':
          await client.patch(path, [{ op: 'remove', path: 'members' }]);
          teller.replace(id, []);
          break;
      }
    }
  }
  return { world, client, teller };
}

it('any requests give the desired state that the same changes give as native events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const { world, client, teller } = await play(steps);
      const read = readDirectory(teller.events);
      const { body } = await client.get('/Groups?count=500');
      expect(body.Resources.map(({ id }: { id: string }) => id).sort()).toEqual(
        [...read.groups.keys()].sort(),
      );
      for (const [id, group] of read.groups) {
        expect(await world.desired(id)).toEqual({ name: group.name, members: [...group.members].sort() });
      }
      for (const { id, displayName, members } of body.Resources) {
        expect(displayName).toBe(read.groups.get(id)?.name);
        const listed = (members as { value: string }[]).map(({ value }) => value);
        expect(listed.sort()).toEqual([...(teller.lists.get(id) ?? [])].sort());
      }
    }),
    { numRuns: 150 },
  );
});
