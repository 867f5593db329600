import { expect, it } from 'vitest';
import { approveHold } from '../../shared/operate/holds.ts';
import type { AuditEntry } from '../../shared/sync/ports/logs.ts';
import { createTestEngine, type DirectoryEvent, eventOf } from '../support/engine/test-engine.ts';
import { failFirst } from '../support/engine/world.ts';

async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { ...settings } });
  const { world } = engine;
  /** Sends an event with an actor. The engine does not run. */
  const say = (id: string, actor: string, event: DirectoryEvent) => {
    world.advance(1_000);
    const time = new Date(world.nowMs()).toISOString();
    const body = { specversion: '1.0', id, source: 'hr', time, actor, ...eventOf(event) };
    world.eventsQueue.send({ body: JSON.stringify(body), attributes: {} });
  };
  /** Returns the cause of the change of each member in the newest entry that has changes. */
  const causes = async () => {
    const entry = (await engine.audit('g')).find(({ changes }) =>
      changes.some(({ kind }) => /_member$/.test(kind)),
    );
    return Object.fromEntries(
      (entry?.changes ?? []).map((change) => [change.member, causeOf(change, entry)]),
    );
  };
  await engine.hire('a', 'b', 'c', 'd', 'e', 'f');
  await engine.deliver({ snapshot: 'g', of: ['a', 'b', 'c', 'd'] });
  return { ...engine, say, causes };
}

function causeOf({ cause }: AuditEntry['changes'][number], entry: AuditEntry | undefined) {
  const { actor, ...own } = (cause === undefined ? undefined : entry?.causes?.[cause]) ?? { ...entry };
  return { cause: own.cause, actor: actor?.id, ...('approved' in own && { by: own.approved?.by }) };
}

it.each(['none', 'lost_after'] as const)(
  'each member of a coalesced write has the event and the actor of its own change (answer: %s)',
  async (fault) => {
    const { say, deliver, causes, troubles, shown, audit } = await company();
    const isLost = fault === 'none' ? () => true : failFirst(troubles, 'patch', fault);
    say('e-ann', 'ann', { take: ['a'], from: 'g' });
    say('e-import', 'hr-import', { add: ['e', 'f'], to: 'g' });
    say('e-bob', 'bob', { take: ['b'], from: 'g' });
    await deliver();
    expect(isLost()).toBe(true);
    expect(shown('g')).toEqual([['u-c', 'u-d', 'u-e', 'u-f']]);
    expect((await audit('g')).filter(({ changes }) => changes.length > 0)).toHaveLength(2);
    expect(await causes()).toEqual({
      a: { cause: 'event e-ann of hr', actor: 'ann' },
      b: { cause: 'event e-bob of hr', actor: 'bob' },
      e: { cause: 'event e-import of hr', actor: 'hr-import' },
      f: { cause: 'event e-import of hr', actor: 'hr-import' },
    });
  },
);

it('a removal that a second person approved has its event and the approver', async () => {
  const { say, deliver, causes, world, ref } = await company({ guard: {} });
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c', 'd', 'e', 'f'] });
  say('e-import', 'hr-import', { take: ['a', 'b', 'c', 'd'], from: 'g' });
  say('e-bob', 'bob', { take: ['e'], from: 'g' });
  await deliver();
  const approval = await approveHold(ref('g'), { reason: 'a reorganisation' }, world.toolPorts);
  expect(approval.kind).toBe('decided');
  await deliver();
  const ofImport = { cause: 'event e-import of hr', actor: 'hr-import', by: 'operator' };
  const ofBob = { cause: 'event e-bob of hr', actor: 'bob', by: 'operator' };
  expect(await causes()).toEqual({ a: ofImport, b: ofImport, c: ofImport, d: ofImport, e: ofBob });
});

it('in one write, an event, a suspension, an ended employment and an external change are different causes', async () => {
  const { say, deliver, causes, world, state, shown } = await company();
  world.platform.changeAsOther((await state('g'))?.link?.id ?? '', {
    users: ['u-a', 'u-b', 'u-c', 'u-d', 'u-f'],
  });
  await world.toolPorts.hire([{ role: 'b', email: 'b@acme.test', state: 'TERMINATED' }]);
  say('e-off', 'okta', { user: 'c', 'scim:active': 'false' });
  say('e-ann', 'ann', { take: ['a'], from: 'g' });
  await deliver();
  expect(shown('g')).toEqual([['u-d']]);
  expect(await causes()).toEqual({
    a: { cause: 'event e-ann of hr', actor: 'ann' },
    b: { cause: 'their employment has ended (TERMINATED)', actor: 'groupsync' },
    c: { cause: 'event e-off of hr', actor: 'hr' },
    null: { cause: expect.stringMatching(/^drift /), actor: 'groupsync' },
  });
});

it('an event after an external change is the cause of what it changes, and the external change of the rest', async () => {
  const { say, deliver, causes, world, ref, state, findChanges } = await company({
    guard: { minSize: 1, maxRemovedCount: 0, maxRemovedShare: 1 },
  });
  const users = ['u-a', 'u-b', 'u-c', 'u-d', 'u-e', 'u-f'];
  world.platform.changeAsOther((await state('g'))?.link?.id ?? '', { users });
  await findChanges();
  expect((await state('g'))?.hold?.removes).toBe(2);
  say('e-in', 'ann', { add: ['e'], to: 'g' });
  await deliver();
  say('e-out', 'bob', { take: ['e'], from: 'g' });
  await deliver();
  await approveHold(ref('g'), { reason: 'ok' }, world.toolPorts);
  await deliver();
  expect(await causes()).toEqual({
    e: { cause: 'event e-out of hr', actor: 'bob', by: 'operator' },
    null: { cause: expect.stringMatching(/^drift /), actor: 'groupsync', by: 'operator' },
  });
});

it('the entry of a lone change has no list of causes', async () => {
  const { say, deliver, audit } = await company();
  say('e-ann', 'ann', { take: ['a'], from: 'g' });
  await deliver();
  expect((await audit('g'))[0]).toMatchObject({ cause: 'event e-ann of hr', actor: { id: 'ann' } });
  expect((await audit('g'))[0]).not.toHaveProperty('causes');
});
