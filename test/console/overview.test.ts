import { expect, it } from 'vitest';
import { acknowledge, listAcknowledgements } from '../../console/server/acknowledgements.ts';
import { unresolved } from '../../console/server/unresolved.ts';
import { asking } from '../support/console/asking.ts';
import { added, employee, group, inSync, removed, savedWorld, sixInSync } from '../support/operate/world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const AT = '2026-11-20T10:00:00.000Z';

it.each([
  ['has the same address', 'ann@acme.test'],
  ['has another address, which the directory has sent', 'ann.again@acme.test'],
])(
  'explain, pending, Home and the person page name the new employee who %s, unless two match',
  async (_, address) => {
    const { ports, connection, clock, leaves, deliver, cli } = await inSync(['ann']);
    const joins = (name: string) => ports.people.save(connection.name, employee(name, address), undefined);
    await leaves('ann');
    clock.ms += MINUTE_MS;
    await deliver('g', added('g', 'ann'));
    const shown = async () => {
      const ask = asking(ports, connection.name);
      const { unmatched } = await ask('home');
      const { rehire } = await ask('person?member=m-ann');
      const { json, stderr } = await cli('explain', 'g', 'm-ann', '--json');
      const { pending } = (await cli('pending', '--json')).json;
      const rows = [...unmatched, ...pending, json.match, { rehire }];
      const isNamed = [json.because, stderr].every((text) => text.includes('rebind m-ann r-again'));
      return [rows.map((row) => row.rehire), isNamed];
    };
    expect(await shown()).toEqual([[null, null, null, null], false]);
    await joins('again');
    clock.ms += MINUTE_MS;
    const member = { id: 'm-ann', email: address };
    await deliver('g', { type: 'group.member.added', data: { group: { id: 'g' }, members: [member] } });
    expect(await shown()).toEqual([['r-again', 'r-again', 'r-again', 'r-again'], true]);
    await joins('other');
    expect(await shown()).toEqual([[null, null, null, null], false]);
  },
);

it('the commands in the errors and checks of the console name the connection of the page', async () => {
  const ask = asking((await savedWorld()).ports, 'b');
  expect(await ask('connection')).toEqual({ message: expect.stringMatching(/^groupsync connect.* for b$/s) });
  const { checks } = await ask('doctor');
  const fixes = checks.flatMap(({ fix }: { fix: string | null }) => fix ?? []);
  expect(fixes).not.toEqual([]);
  for (const fix of fixes) expect(fix).toMatch(/ for b$/);
});

it('the page of a connection shows how far its directory is read, and why the reader has stopped', async () => {
  const directory = { kind: 'google', administrator: 'admin@acme.test' } as const;
  const { ports, connection, clock, ask } = await savedWorld({ directory });
  const stopped = { sinceMs: clock.ms, reason: 'groups.list: the directory answered 403' };
  await ports.sources.noteReader(connection.name, { stopped, shortGroups: 2 });
  expect((await ask('connection')).reader).toMatchObject({
    kind: 'google',
    groups: 0,
    freshness: {
      shortGroups: 2,
      stopped: { since: '2026-11-20T10:00:00.000Z', reason: 'groups.list: the directory answered 403' },
    },
  });
  expect((await (await savedWorld()).ask('connection')).reader).toBeNull();
});

it('an action with a list of more than 1000 entries is refused with the limit', async () => {
  const { ask } = await savedWorld();
  const pause = (count: number) => ask('pause', { groups: Array(count).fill('g'), reason: 'r' });
  expect(await pause(1_000)).toEqual({ paused: [] });
  expect(await pause(1_001)).toEqual({ message: expect.stringContaining('at most 1000 entries') });
});

it('if one group of several cannot be paused, the others are paused, and the error names only this group', async () => {
  const { ports, publish, connection } = await savedWorld();
  await publish(group('a'), group('b'), group('c'));
  const head: typeof ports.audit.head = async (ref) => {
    if (ref.group === 'b') throw new Error('another owner');
    return ports.audit.head(ref);
  };
  const ask = asking({ ...ports, audit: { ...ports.audit, head } }, connection.name);
  const { message } = await ask('pause', { groups: ['a', 'b', 'c'], reason: 'r' });
  expect(message).toContain('1 of 3 not done:\nb: another owner');
  const { rows } = await ask('groups?state=paused');
  expect(rows.map(({ id }: { id: string }) => id)).toEqual(['a', 'c']);
});

it('a change from an outdated page does not undo the change of another operator', async () => {
  const { ask, cli, publish, connection, clock } = await savedWorld();
  const other = (line: string) => cli(...line.split(' '), '--yes');
  await publish(group('a'), group('b'));
  await other('pause b --no-wait');
  expect(await ask('pause', { groups: ['a', 'b'], reason: 'r' })).toEqual({ paused: ['a'] });
  const { pausedAtMs: seenMs } = await ask('group?group=b');
  await other('resume b --no-wait');
  clock.ms += 1;
  await other('pause b --no-wait');
  expect(await ask('resume', { groups: ['b'], seenMs })).toEqual({
    message: expect.stringContaining('paused or resumed it meanwhile'),
  });
  const { row, settings } = await ask('connection');
  await other('pause --reason stop --no-wait');
  expect(await ask('resume-all', { seen: row })).toEqual({ message: expect.stringContaining('stop') });
  await other(`connections set ${connection.name} guard.maxRemovedShare=0.1`);
  const edited = { key: 'guard', before: settings.guard, value: { ...settings.guard, minSize: 9 } };
  await ask('settings', { changes: [edited] });
  const { guard } = (await ask('connection')).settings;
  expect(guard).toEqual({ ...settings.guard, minSize: 9, maxRemovedShare: 0.1 });
  const again = await ask('settings', { changes: [{ ...edited, value: { ...guard, minSize: 3 } }] });
  expect(again.message).toContain('another operator changed the same setting meanwhile (guard.minSize');
});

it('the page of a hold shows the users who stay held after single removals were approved or rejected', async () => {
  const { ask, cli, apply, deliver } = await sixInSync();
  await deliver('g', removed('g', 'ann', 'bob', 'cid', 'dee'));
  const { hold, causes, leaving } = await ask('hold?group=g');
  expect(causes).toMatchObject([{ because: 'the directory took them out of the group', count: 4, by: null }]);
  expect(leaving.map(({ cause }: { cause: number }) => cause)).toEqual([0, 0, 0, 0]);
  await ask('approve', { group: 'g', digest: hold.digest, reason: 'has left', users: ['u-ann'] });
  const later = await ask('hold?group=g');
  await ask('reject', { group: 'g', digest: later.hold.digest, reason: 'no', users: ['u-bob'] });
  const held = { removes: 2, keeps: 3, decision: 'waiting' };
  const page = await ask('hold?group=g');
  const rejected = { decision: 'rejected', removes: 1, reason: 'no' };
  expect(page).toMatchObject({
    hold: held,
    others: [{ decision: 'approved', removes: 1, reason: 'has left' }, rejected],
  });
  const { digest } = page.others[1];
  const other = await ask(`hold?group=g&set=${digest}`);
  expect(other).toMatchObject({ hold: { ...rejected, digest }, others: [held, { decision: 'approved' }] });
  expect([other.leaving.length, other.staying.length]).toEqual([1, 2]);
  const rows = [held, { removes: 1, decision: 'approved' }, { removes: 1, decision: 'rejected' }];
  expect((await ask('holds')).holds).toHaveLength(3);
  expect(page.leaving).toHaveLength(2);
  expect(page.staying).toHaveLength(3);
  expect((await cli('holds', '--json')).json.holds).toMatchObject(rows);
  expect((await cli('holds', 'show', 'g')).stdout).toMatch(
    /2 removals, 3 members would stay.*1 other removal, .* approved by .* has left.*1 other .* rejected by .* no/s,
  );
  await apply('g');
  expect(await ask('hold?group=g')).toMatchObject({ hold: held, others: [rejected] });
});

it('a search for people shows an exact id first, and finds other people without case and accents', async () => {
  const { ask, publish } = await savedWorld();
  const members = [
    { id: 'nunez', name: 'Zoe' },
    { id: 'm1', name: 'Ana NÚÑEZ' },
    { id: 'm2', name: 'Bo', email: 'bo.nunez@x.test' },
  ];
  await publish(group('g'), { type: 'group.member.added', data: { group: { id: 'g' }, members } });
  const found = await ask('people?text=nunez');
  expect(found.map(({ id }: { id: string }) => id)).toEqual(['nunez', 'm1', 'm2']);
});

it('the list of external changes omits reverted changes, and changes that no longer exist', async () => {
  const { connection } = await savedWorld();
  const row = (group: string, kind: string) => ({
    group,
    kind,
    settledBy: 'report',
    detectedAtMs: Date.parse(AT),
  });
  const groups = {
    readMany: async (refs: readonly { group: string }[]) =>
      refs.map((ref) => ({
        ref,
        link: { view: {} },
        lastWriteAtMs: ref.group === 'written' ? Date.parse(AT) + 1 : 0,
      })),
  };
  const rows = [
    row('kept', 'members_added'),
    row('written', 'unknown_users'),
    row('same', 'unknown_users'),
    { ...row('kept', 'members_added'), settledBy: 'restore' },
  ];
  const drift = {
    async *list() {
      yield rows;
    },
  };
  const left = await unresolved(connection.name, { drift, groups } as never);
  expect(left).toMatchObject([
    { group: 'kept', kind: 'members_added', detectedAt: AT },
    { group: 'same', kind: 'unknown_users' },
  ]);
});

it('an acknowledgement is listed until its `untilMs`, or until a newer acknowledgement replaces it', async () => {
  const { ports, connection, clock } = await savedWorld();
  const hide = (item: string, days: number | undefined, version: string | null = null) => {
    clock.ms += 1_000;
    const untilMs = days === undefined ? undefined : clock.ms + days * DAY_MS;
    return acknowledge(connection.name, { item, version, untilMs }, ports);
  };
  const items = async () => (await listAcknowledgements(connection.name, ports)).map(({ item }) => item);
  await hide('failed g1', 7, 'v1');
  await hide('unmatched', 1);
  await hide('holds', 7);
  await hide('holds', undefined);
  expect(await items()).toEqual(['failed g1', 'unmatched']);
  expect((await listAcknowledgements(connection.name, ports))[0]).toMatchObject({ version: 'v1' });
  clock.ms += 2 * DAY_MS;
  expect(await items()).toEqual(['failed g1']);
  await hide('failed g1', 30);
  clock.ms += 31 * DAY_MS;
  expect(await items()).toEqual([]);
});
