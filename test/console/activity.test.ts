import { expect, it } from 'vitest';
import type { Entry } from '../../console/answers.ts';
import { added, inSync, removed, sixInSync } from '../support/operate/world.ts';

/** Creates the group g with four members, and then stores changes by three authors that one write sends. */
async function coalesced() {
  const world = await inSync(['ann', 'bob', 'cid', 'dee'], { guard: null });
  await world.hire('eve', 'fay');
  world.clock.ms += 60_000;
  await world.deliver(
    'g',
    { ...removed('g', 'ann'), id: 'e-1', actor: 'carol' },
    { ...added('g', 'eve'), id: 'e-2', actor: 'hr-import' },
    { ...added('g', 'fay'), id: 'e-3', actor: 'hr-import' },
    { ...removed('g', 'bob'), id: 'e-4', actor: 'dan' },
  );
  const lines = async (text = ''): Promise<readonly Entry[]> =>
    (await world.ask(`activity?text=${encodeURIComponent(text)}`)).entries;
  return { ...world, lines };
}

/** Returns what a line says: the actor, the changed members, and the events. */
const saidBy = ({ action, actor, changes }: Entry) => [
  action,
  actor.id,
  changes.map(({ kind, member }) => `${kind === 'add_member' ? '+' : '-'}${member}`).join(' '),
  changes.map(({ event }) => event?.id).join(' '),
];

it('the console shows the changes of one write by their actors, each with its own event, and finds them by these', async () => {
  const { lines, clock } = await coalesced();
  const found = (await lines()).filter(({ action }) => action === 'patch');
  expect(found.map(saidBy).sort()).toEqual([
    ['patch', 'carol', '-m-ann', 'e-1'],
    ['patch', 'dan', '-m-bob', 'e-4'],
    ['patch', 'hr-import', '+m-eve +m-fay', 'e-2 e-3'],
  ]);
  expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  expect(found[0]?.changes[0]?.event?.at).toBe(new Date(clock.ms).toISOString());
  expect((await lines('actor:dan')).map(saidBy)).toEqual([['patch', 'dan', '-m-bob', 'e-4']]);
  expect((await lines('e-3')).map(saidBy)).toEqual([['patch', 'hr-import', '+m-eve +m-fay', 'e-2 e-3']]);
  expect(await lines('actor:ann-the-approver')).toEqual([]);
});

it('the timeline of a person and the history of a group have the same authors, and charts count their write once', async () => {
  const { ask } = await coalesced();
  const { timeline } = await ask('person?member=m-bob');
  expect(timeline.filter(({ action }: Entry) => action === 'patch').map(saidBy)).toEqual([
    ['patch', 'dan', '-m-bob', 'e-4'],
    ['patch', 'test', '+m-bob', 'e2'],
  ]);
  const { history } = await ask('group?group=g');
  const authors = history.filter(({ action }: Entry) => action === 'patch').map((one: Entry) => one.actor.id);
  expect(authors.sort()).toEqual(['carol', 'dan', 'hr-import']);
  const { charts } = await ask('home');
  expect(charts.writes.at(-1)).toBe(2);
});

it('an approved removal names the author of its event, and the approver', async () => {
  const { apply, ask, deliver } = await sixInSync();
  await deliver('g', { ...removed('g', 'ann', 'bob', 'cid', 'dee'), id: 'e-9', actor: 'hr-import' });
  const { hold } = await ask('hold?group=g');
  await ask('approve', { group: 'g', digest: hold.digest, reason: 'a reorganisation' });
  await apply('g');
  const { decided } = await ask('hold?group=g');
  const write = decided.find(({ action }: Entry) => action === 'patch');
  expect(saidBy(write)).toEqual(['patch', 'hr-import', '-m-ann -m-bob -m-cid -m-dee', 'e-9 e-9 e-9 e-9']);
  expect(write.changes[0].approved).toEqual({ by: 'local:tester', reason: 'a reorganisation' });
  const { entries } = await ask('activity?text=actor%3Atester');
  expect(entries.map(({ action }: Entry) => action)).toContain('patch');
});
