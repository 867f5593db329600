import { expect, it } from 'vitest';
import { recordAcceptedDeletions } from '../../shared/directory/operate/accept-deletions.ts';
import { planTakeover, takeOverGroups } from '../../shared/directory/operate/takeover.ts';
import { groupId, memberId, platformGroupId, platformUserId, roleId } from '../../shared/domain/ids.ts';
import { createOAuthServer } from '../../shared/oauth/oauth-server.ts';
import { storeConnection } from '../../shared/operate/connect/connect.ts';
import { answerDecision, createDecisions, decideRequests } from '../../shared/operate/decisions.ts';
import { checkConnection } from '../../shared/operate/doctor/connection.ts';
import { approveHold, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { doRecorded, journalOf, recordAction } from '../../shared/operate/journal.ts';
import { adoptGroup, releaseGroup } from '../../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { changeSettings, planSettings, removeConnection } from '../../shared/operate/settings.ts';
import { issueToken, renewClient, withdrawClient, withdrawToken } from '../../shared/scim/operate/tokens.ts';
import { createRateLimiter } from '../../shared/scim/server/limiter.ts';
import { createScimStore } from '../../shared/scim/store/scim-store.ts';
import { createScimTokenStore } from '../../shared/scim/store/scim-token-store.ts';
import { listTokens } from '../../shared/scim/tokens/tokens.ts';
import { createHealthStore } from '../../shared/store/connection-states.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { company as directoryOf, openReader } from '../directory/reading/fixture.ts';
import { clientNextTo } from '../directory/reading/scim-client.ts';
import { clientOf } from '../scim/server/support/server.ts';
import { allOf, calledBy, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, HOUR_MS } from '../support/engine/world.ts';
import { directory } from '../support/operate/takeovers.ts';

const EVERYBODY = ['a', 'b', 'c', 'd', 'e', 'f'];
const WORD = { reason: 'a reorganisation' };

/** Creates a company with the setting `fourEyes`, and functions for operators with different names. */
async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { fourEyes: true, guard: {}, ...settings } });
  const { toolPorts } = engine.world;
  const vault = { remove: async () => false, store: async () => 'stored' };
  const tokens = createScimTokenStore(toolPorts.table);
  const health = createHealthStore(toolPorts.table);
  let made = 0;
  const randomHex = (bytes: number) => {
    made += 1;
    return String(made).padStart(2 * bytes, '0');
  };
  const as = (by: string) => ({ ...toolPorts, vault, tokens, health, randomHex, ...calledBy(by) }) as never;
  const stored = async () => (await toolPorts.connections.current(CONNECTION)) as Connection;
  const set = async (by: string, key: string, value: unknown) =>
    changeSettings(await planSettings(CONNECTION, [{ key, value }], as(by)), as(by));
  const decide = async (by: string, isConfirmed: boolean) =>
    decideRequests(CONNECTION, { isConfirmed, shown: rowsOf(await stored()) }, as(by));
  const approve = (by: string) => approveHold(engine.ref('g'), WORD, as(by));
  const journal = () => allOf(toolPorts.audit.read(journalOf(CONNECTION)));
  return { ...engine, as, tokens, stored, set, decide, approve, journal };
}

/** Moves the group g to a SCIM client. @returns the id of its group */
async function moveToScim({ world }: Awaited<ReturnType<typeof company>>, ports: typeof world.toolPorts) {
  const { body } = await (await clientNextTo({ world })).post('/Groups', { displayName: 'Group g' });
  const connection = await world.connection();
  const planned = await planTakeover(connection, { source: 'scim', sameIds: false }, ports);
  await takeOverGroups(connection, planned, ports);
  await requeueDue(CONNECTION, ports);
  return String(body.id);
}

const held = async (settings?: object) => {
  const engine = await company(settings);
  await engine.hire(...EVERYBODY);
  await engine.deliver({ snapshot: 'g', of: EVERYBODY });
  await engine.deliverAs('ann', { snapshot: 'g', of: ['a'] });
  return engine;
};

it('the person who caused a hold cannot approve it after four eyes is switched on', async () => {
  const { approve, set } = await held({ fourEyes: false });
  await set('bob', 'fourEyes', true);
  await expect(approve('ann')).rejects.toThrow('other than ann');
});

it('the function for decisions refuses an approval only by the person who caused the hold', async () => {
  const { as, ref, state } = await held();
  const approveAs = (by: string) => {
    const run = async (_: unknown, { decision }: { readonly decision: string }) =>
      answerDecision(JSON.parse(decision), as(by), new AbortController().signal);
    const decisions = createDecisions({ run } as never, async () => ({}));
    return decisions.hold({ ...ref('g'), isApproved: true, request: WORD });
  };
  await expect(approveAs('ann')).rejects.toThrow('other than ann');
  expect((await state('g'))?.hold?.decision.kind).toBe('waiting');
  expect(await approveAs('bob')).toMatchObject({ kind: 'decided', hold: { decision: { by: 'bob' } } });
  const failing = { ...(as('bob') as object), groups: {} } as never;
  const decision = { about: 'hold', ...ref('g'), isApproved: true, request: WORD } as const;
  await expect(answerDecision(decision, failing, new AbortController().signal)).rejects.toThrow(TypeError);
});

it('the person who caused a hold at the command line cannot approve it in the console', async () => {
  const { as, ref } = await held();
  const approve = (by: string, persons: Record<string, string>) =>
    approveHold(ref('g'), WORD, { ...(as(by) as object), persons } as never);
  await expect(approve('console:ann@acme.test', { ann: 'Ann@acme.test' })).rejects.toThrow(
    'your action caused the hold',
  );
  await expect(approve('console:bob@acme.test', {})).rejects.toThrow(
    'ann caused the hold. groupsync does not know which person ann is: name the person in the setting persons',
  );
  expect(await approve('console:bob@acme.test', { ann: 'ann@acme.test' })).toMatchObject({ kind: 'decided' });
});

const members = async () => {
  const engine = await company();
  await engine.hire(...EVERYBODY);
  await engine.deliver({ snapshot: 'g', of: EVERYBODY });
  return engine;
};
type Company = Awaited<ReturnType<typeof members>>;
/** Links another platform group, which has all members. */
const adopt = async ({ as, deliver, ref, world }: Company) => {
  await releaseGroup(ref('g'), as('cid'));
  await deliver();
  const platformUsers = EVERYBODY.map((id) => `u-${id}`);
  const id = platformGroupId(
    world.platform.addForeign({ name: 'Theirs', spokeId: 'x', users: platformUsers }),
  );
  world.platform.adopted.add(id);
  await adoptGroup(ref('g'), id, as('ann'));
  await deliver();
};

it.each([
  [
    'adopts a platform group whose users were never members',
    async (engine: Company) => {
      await engine.deliver({ remove: 'g' });
      await engine.deliver({ upsert: 'g' });
      await adopt(engine);
    },
  ],
  [
    'adopts a platform group whose users left the directory group a month ago',
    async (engine: Company) => {
      for (const id of EVERYBODY) await engine.deliver({ take: [id], from: 'g' });
      engine.world.advance(30 * DAY_MS);
      await adopt(engine);
    },
  ],
  [
    'rebinds the members',
    async ({ as, deliver, hire }: Company) => {
      await hire('z');
      for (const id of EVERYBODY.slice(1))
        await rebindMember(CONNECTION, { member: memberId(id), role: roleId('z') }, as('ann'));
      await deliver();
    },
  ],
  [
    'excludes people by an attribute',
    async ({ deliver, set }: Company) => {
      for (const user of EVERYBODY.slice(1)) await deliver({ user, type: 'guest' });
      await set('ann', 'people.exclude', ['type=guest']);
      await deliver();
    },
  ],
  [
    'changes who counts as an employee while the group is paused for a month',
    async ({ as, deliver, ref, set, world }: Company) => {
      await pauseGroup(ref('g'), as('cid'));
      await set('ann', 'includeStates', ['HIRED']);
      await deliver();
      world.advance(30 * DAY_MS);
      await resumeGroup(ref('g'), as('cid'));
      await deliver();
    },
  ],
  [
    'changes who counts as an employee while the connection is paused for three months',
    async (engine: Company) => {
      const { as, deliver, set, work, world } = engine;
      await pauseConnection(CONNECTION, undefined, as('cid'));
      await set('ann', 'includeStates', ['HIRED']);
      await work(20);
      world.advance(90 * DAY_MS);
      await resumeConnection(CONNECTION, as('cid'));
      await deliver();
    },
  ],
  [
    'changes who counts as an employee while the group is only shown for three months',
    async ({ deliver, set, world }: Company) => {
      await set('dee', 'groups.policies', [{ match: '*', mode: 'report' }]);
      await deliver();
      await set('ann', 'includeStates', ['HIRED']);
      await deliver();
      world.advance(90 * DAY_MS);
      await set('dee', 'groups.policies', []);
      await deliver();
    },
  ],
  [
    'took over a group that may be within the group',
    async ({ as, deliver, ref, set, world }: Company) => {
      await set('dee', 'nested', 'flatten');
      await deliver({ upsert: 'inner' });
      const move = { from: groupId('inner'), to: groupId('inner-2'), source: 'directory' } as const;
      await world.toolPorts.reader.noteMove(CONNECTION, move);
      await recordAction(ref('inner'), { action: 'directory_takeover', changes: [] }, as('ann'));
      await set('dee', 'includeStates', ['HIRED']);
      await deliver();
    },
  ],
  [
    'discards the message that adds removed members again',
    async ({ deliver, as, world }: Company) => {
      await deliver({ take: EVERYBODY.slice(1), from: 'g' });
      world.advance(1_000);
      const action = { action: 'dlq_discard', changes: [] } as const;
      await recordAction(journalOf(CONNECTION), action, as('ann'));
      await deliver({ take: ['a'], from: 'g' });
    },
  ],
] as const)('under four eyes, an operator who %s cannot approve the removals', async (_, act) => {
  const engine = await members();
  await act(engine);
  expect((await engine.state('g'))?.hold?.decision.kind).toBe('waiting');
  await expect(engine.approve('ann')).rejects.toThrow(/other than .*ann/);
  await expect(engine.approve('Ann')).rejects.toThrow('caused the hold');
  expect(await engine.approve('cid')).toMatchObject({ kind: 'decided' });
});

it('under four eyes, an action does not count that had its effect ten days ago, failed, or is later than a decision', async () => {
  const { as, deliver, ref, set, state, world } = await members();
  await rebindMember(CONNECTION, { member: memberId('a'), role: roleId('a') }, as('ann'));
  await deliver();
  world.advance(10 * DAY_MS);
  await doRecorded(journalOf(CONNECTION), { action: 'rebind', changes: [] }, as('ann'), async () => false);
  await set('bob', 'includeStates', ['HIRED']);
  await deliver();
  await rejectHold(ref('g'), WORD, as('bob'));
  world.advance(1);
  await set('ann', 'match', ['userName=workEmail']);
  const { decision } = (await state('g'))?.rejection ?? {};
  const approve = (by: string) => approveHold(ref('g'), { ...WORD, decision }, as(by));
  await expect(approve('bob')).rejects.toThrow('other than bob');
  expect(await approve('ann')).toMatchObject({ kind: 'decided' });
});

it('under four eyes, a token counts that was last used up to nine days before the hold', async () => {
  const { approve, deliver, set, state, tokens } = await members();
  await set('bob', 'includeStates', ['HIRED']);
  await deliver();
  const lastMs = Number((await state('g'))?.hold?.dirtySinceMs) - 8 * DAY_MS - HOUR_MS;
  for (const [by, lastUsedMs] of Object.entries({ ann: lastMs, cid: lastMs - 1 }))
    await tokens.add({
      prefix: by,
      connection: CONNECTION,
      hash: '',
      createdMs: 0,
      creators: [by],
      lastUsedMs,
    });
  await expect(approve('ann')).rejects.toThrow('other than ann');
  expect(await approve('cid')).toMatchObject({ kind: 'decided' });
});

it.each([
  ['', false],
  [', also if a takeover moves the group between the two approvals', true],
])('if the audit no longer has the cause, two persons or an administrator approve%s', async (_, moves) => {
  const engine = await members();
  const { approve, as, deliver, journal, ref, set, state, world } = engine;
  const wait = async () => {
    await set('ann', 'includeStates', ['HIRED']);
    await deliver();
    for (let years = 0; years < 2; years += 1) {
      await rejectHold(ref('g'), WORD, as('bob'));
      world.advance(366 * DAY_MS);
      await deliver({ upsert: 'g' });
    }
    world.table.expire(world.nowMs());
  };
  await wait();
  await expect(approve('cid')).rejects.toThrow('A second person must also approve');
  world.advance(8 * DAY_MS);
  await deliver({ upsert: 'g' });
  const some = { ...WORD, users: [platformUserId('u-b')] };
  for (const by of ['dee', 'eve']) {
    await expect(approveHold(ref('g'), some, as(by))).rejects.toThrow('A second person must also approve');
    await deliver({ add: ['b'], to: 'g' });
    await deliver({ take: ['b'], from: 'g' });
  }
  expect((await journal()).filter(({ action }) => action === 'connections_set')).toEqual([]);
  const asAdministrator = (by: string) => approveHold(ref('g'), { ...WORD, isAdministrator: true }, as(by));
  for (const again of [approve, approve, asAdministrator])
    await expect(again('bob')).rejects.toThrow('A second person must also approve');
  expect((await state('g'))?.hold?.decision.kind).toBe('waiting');
  const [before] = [(await state('g'))?.hold];
  const now = moves ? await moveToScim(engine, as('console:dee')) : 'g';
  const kept = { kind: 'decided', hold: { digest: before?.digest } };
  expect(await approveHold(ref(now), WORD, as('cid'))).toMatchObject(kept);
  world.advance(1);
  await rejectHold(ref(now), { ...WORD, decision: (await state(now))?.approval?.decision }, as('bob'));
  const { decision } = (await state(now))?.rejection ?? {};
  const again = approveHold(ref(now), { ...WORD, decision }, as(moves ? 'console:fay' : 'fay'));
  await expect(again).rejects.toThrow('A second person must also approve');
  const byAdministrator = { ...WORD, isAdministrator: true, decision };
  expect(await approveHold(ref(now), byAdministrator, as('console:eve'))).toMatchObject({ kind: 'decided' });
});

it.each([
  ['of an administrator of the console', 'removes', ['console:ann']],
  ['that an operator asked for and another person confirmed', 'switches off', ['ann', 'bob']],
])(
  'under four eyes, the creators of a SCIM token %s cannot approve that its client %s members',
  async (_, does, creators) => {
    const { as, decide, deliver, ref, stored, tokens, world } = await members();
    const [creator = '', confirmer] = creators;
    const { token, kept } = await issueToken(CONNECTION, undefined, as(creator));
    const scim = {
      scim: createScimStore(world.table),
      limiter: createRateLimiter(world.nowMs),
      oauth: createOAuthServer(),
    };
    const client = clientOf({ ...(as('x') as object), ...scim } as never, {
      authorization: `Bearer ${token}`,
    });
    if (confirmer !== undefined) {
      await issueToken(CONNECTION, undefined, as('cid'), 'client');
      expect(rowsOf(await stored()).map(({ key, by }) => [key, by])).toEqual([
        ['scim_token', 'ann'],
        ['scim_token', 'cid'],
      ]);
      expect((await client.get('/Users')).status).toBe(401);
      await expect(decide('ann', true)).rejects.toThrow('ann made a request and cannot confirm it');
      await decide(confirmer, true);
      // Until then, the function remembers that the token was invalid.
      world.advance(DAY_MS);
      expect(await tokens.find(kept.prefix)).toMatchObject({ creators });
    }
    const ids: string[] = [];
    for (const id of EVERYBODY) {
      const emails = [{ value: `${id}@acme.test`, type: 'work' }];
      ids.push((await client.post('/Users', { userName: id, emails })).body.id);
    }
    const body = { displayName: 'Pushed', members: ids.map((value) => ({ value })) };
    const { id: group } = (await client.post('/Groups', body)).body;
    await deliver();
    world.advance(365 * DAY_MS);
    const only = [{ op: 'replace', path: 'members', value: [{ value: ids[0] }] }];
    const off = [{ op: 'replace', path: 'active', value: false }];
    if (does === 'removes') await client.patch(`/Groups/${group}`, only);
    else for (const id of ids) await client.patch(`/Users/${id}`, off);
    await deliver();
    const approveAs = (by: string) => approveHold(ref(group), WORD, as(by));
    for (const by of creators) await expect(approveAs(by)).rejects.toThrow('your action caused the hold');
    expect(await approveAs(confirmer === undefined ? 'console:dee' : 'dee')).toMatchObject({
      kind: 'decided',
    });
  },
);

it('under four eyes, the earlier secret of a client expires only after another person confirmed the rotation', async () => {
  const { as, decide, world } = await members();
  const { client = '' } = (await issueToken(CONNECTION, undefined, as('console:dee'), 'client')).kept;
  const states = async () => (await listTokens(CONNECTION, as('x'))).map(({ state }) => state);
  for (const isConfirmed of [false, true]) {
    await renewClient(CONNECTION, client, { expiresMs: undefined, previousForMs: DAY_MS }, as('ann'));
    world.advance(2 * DAY_MS);
    expect([...(await states())].sort()).toEqual([
      'active',
      'requested',
      ...(isConfirmed ? ['revoked'] : []),
    ]);
    await decide('bob', isConfirmed);
  }
  world.advance(DAY_MS - 1);
  expect((await states()).filter((state) => state === 'active')).toHaveLength(2);
  world.advance(1);
  expect([...(await states())].sort()).toEqual(['active', 'expired', 'revoked']);
});

it('under four eyes, the operator who accepted deletions of the directory cannot approve them', async () => {
  const gone = ['g1', 'g2', 'g3', 'g4'];
  const groups = Object.fromEntries([...gone, 'g5', 'g6', 'g7', 'g8'].map((group) => [group, ['a']]));
  const reader = await openReader({
    world: directoryOf(groups),
    settings: { directory, guard: {}, fourEyes: true },
  });
  await reader.hire('a');
  await reader.passMinutes(10);
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change(...gone.map((group) => ({ kind: 'deleteGroup', group })));
  await reader.pass(3_600_000);
  await expect(reader.run()).rejects.toThrow('--accept-deletions');
  const as = (by: string) => ({ ...reader.world.toolPorts, ...calledBy(by) });
  await recordAcceptedDeletions(CONNECTION, as('ann'));
  await reader.run({ acceptsDeletions: true });
  await reader.deliver();
  const [held] = await listHolds(CONNECTION, as('ann'));
  const ref = { connection: CONNECTION, group: groupId(held?.group ?? '') };
  await expect(approveHold(ref, WORD, as('ann'))).rejects.toThrow('other than ann');
  expect(await approveHold(ref, WORD, as('bob'))).toMatchObject({ kind: 'decided' });
});

it('the guard keeps its old value until another person confirms the request, which stores its author and time', async () => {
  const { set, decide, stored, world } = await company();
  const nowMs = world.nowMs();
  expect(await set('ann', 'guard', null)).toEqual({ replanned: 0, requested: ['guard'] });
  const before = await stored();
  expect(before.settings.guard).toMatchObject({ maxRemovedShare: 0.5 });
  expect(before.requests).toEqual([{ key: 'guard', value: null, by: 'ann', atMs: nowMs }]);
  await expect(decide('ann', true)).rejects.toThrow('ann made a request and cannot confirm it');
  expect(await stored()).toEqual(before);
  expect(await decide('bob', true)).toMatchObject({ changed: [{ key: 'guard', after: 'null' }] });
  const { settings, requests = [], replanSinceMs } = await stored();
  expect([settings.guard, requests, replanSinceMs]).toEqual([null, [], nowMs]);
});

it('the person who made a request at the command line cannot confirm it in the console', async () => {
  const { as, set, stored } = await company();
  await set('ann', 'guard', null);
  const shown = rowsOf(await stored());
  const confirm = (by: string) =>
    decideRequests(CONNECTION, { isConfirmed: true, shown }, {
      ...(as(by) as object),
      persons: { ann: 'ann@acme.test' },
    } as never);
  await expect(confirm('console:ann@acme.test')).rejects.toThrow('ann made a request and cannot confirm it');
  expect(await confirm('console:bob@acme.test')).toMatchObject({ changed: [{ key: 'guard' }] });
});

it('a rejected request for a SCIM token revokes it', async () => {
  const { as, decide, stored, tokens } = await company();
  const { kept } = await issueToken(CONNECTION, undefined, as('ann'));
  await decide('ann', false);
  expect(rowsOf(await stored())).toEqual([]);
  await tokens.confirm(CONNECTION, kept.prefix, 'bob');
  expect(await listTokens(CONNECTION, as('ann'))).toMatchObject([{ state: 'revoked', creators: ['ann'] }]);
});

it.each(['token', 'client'] as const)(
  'the request for a SCIM %s ends when an operator revokes it, and other requests stay',
  async (kind) => {
    const { as, set, stored, world } = await company();
    const ports = as('ann') as typeof world.toolPorts;
    await set('ann', 'guard', null);
    const { kept } = await issueToken(CONNECTION, undefined, as('ann'), kind);
    const revoke = kind === 'token' ? withdrawToken : withdrawClient;
    const connections = { ...ports.connections, replace: async () => false };
    const raced = revoke(CONNECTION, kept.prefix, { ...ports, connections } as never);
    await expect(raced).rejects.toThrow('so that its request ends');
    expect(await revoke(CONNECTION, `gsync_scim_${kept.prefix}_secret`, as('ann'))).toBe(false);
    expect(await revoke(CONNECTION, kept.prefix, as('ann'))).toBe(true);
    expect(rowsOf(await stored())).toMatchObject([{ key: 'guard' }]);
  },
);

it('a request is recorded in the audit log, with its confirmation or rejection', async () => {
  const { set, decide, journal, stored } = await company();
  const { settings } = await stored();
  await set('ann', 'guard.maxRemovedShare', 0.9);
  await decide('bob', false);
  expect(await stored()).toMatchObject({ settings });
  await set('ann', 'fourEyes', false);
  await decide('bob', true);
  const entries = (await journal()).map(({ action, actor, changes }) => [
    actor?.id,
    action,
    changes.map(({ kind, reason }) => `${kind} ${reason}`).join(),
  ]);
  expect(entries.toReversed()).toEqual([
    ['ann', 'connections_set', 'request_setting guard'],
    ['bob', 'connections_reject', 'reject_setting guard'],
    ['ann', 'connections_set', 'request_setting fourEyes'],
    ['bob', 'connections_confirm', 'set_setting fourEyes'],
  ]);
});

it('connecting a company again with weaker settings also stores a request', async () => {
  const { as, stored } = await company();
  const known = await stored();
  const settings = { ...known.settings, guard: null, fourEyes: false, mode: 'report' as const };
  const { name, company: of, observing } = known;
  await storeConnection({ name, company: of, observing, settings, token: 't', known }, as('ann'));
  expect((await stored()).settings).toMatchObject({ ...known.settings, mode: 'report' });
  expect(rowsOf(await stored()).map(({ key, by }) => [key, by])).toEqual([
    ['fourEyes', 'ann'],
    ['guard', 'ann'],
  ]);
});

it('no request is needed for stricter limits, for other settings, or while four eyes is off', async () => {
  const strict = await company();
  await strict.set('ann', 'guard.maxRemovedShare', 0.1);
  await strict.set('ann', 'mode', 'report');
  expect(await strict.stored()).toMatchObject({ settings: { guard: { maxRemovedShare: 0.1 } } });
  expect(rowsOf(await strict.stored())).toEqual([]);
  const free = await company({ fourEyes: false });
  await free.set('ann', 'guard', null);
  expect((await free.stored()).settings.guard).toBeNull();
});

it('doctor reports an open request, which ends when its setting changes without a request, or a newer request replaces it', async () => {
  const { as, set, stored } = await company();
  await set('ann', 'guard', null);
  const checks = await checkConnection(await stored(), as('bob'));
  const found = checks.find(({ name, ok }) => name === 'default: settings' && !ok);
  expect(found?.detail).toContain('ann asks for guard');
  expect(found?.fix).toContain('groupsync connections confirm default');
  await set('bob', 'guard.maxRemovedCount', 200);
  expect(rowsOf(await stored())).toMatchObject([{ by: 'bob', key: 'guard' }]);
  await set('bob', 'guard.maxRemovedCount', 50);
  expect(rowsOf(await stored())).toEqual([]);
});

it('a person who made one of several open requests can confirm none of these requests', async () => {
  const { set, decide, stored } = await company();
  await set('ann', 'guard', null);
  await set('bob', 'fourEyes', false);
  await expect(decide('ann', true)).rejects.toThrow('ann made a request and cannot confirm it');
  await expect(decide('bob', true)).rejects.toThrow('bob made a request and cannot confirm it');
  await decide('cid', true);
  expect((await stored()).settings).toMatchObject({ guard: null, fourEyes: false });
});

it('a request is confirmed only if it has not changed since it was shown', async () => {
  const { set, stored, as } = await company();
  await set('ann', 'guard.maxRemovedShare', 0.6);
  const shown = rowsOf(await stored());
  await set('ann', 'guard', null);
  const decision = {
    about: 'settings' as const,
    connection: CONNECTION,
    isConfirmed: true,
    shown: [...shown],
  };
  expect(await answerDecision(decision, as('bob'), new AbortController().signal)).toEqual({
    failed: expect.stringContaining('the requests have changed since they were shown'),
  });
  expect((await stored()).settings.guard).not.toBeNull();
});

it('a connection under four eyes cannot be removed', async () => {
  const { as, set, decide, stored } = await company();
  await expect(removeConnection(CONNECTION, as('ann'))).rejects.toThrow('fourEyes=false');
  expect(await stored()).toBeDefined();
  await set('ann', 'fourEyes', false);
  await decide('bob', true);
  await removeConnection(CONNECTION, as('ann'));
  expect(await stored()).toBeUndefined();
});
