import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeOverGroups } from '../../shared/directory/operate/takeover.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { acceptRestored } from '../../shared/operate/restated.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { calledBy } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { openWith, plan, scimOf } from '../support/operate/takeovers.ts';
import { backupOf } from '../support/restore.ts';

/* Evidence, undo and members of the past, after another feature has changed the history of the group. */

/** The group “Group rowing” of the events: a, b and c; two hours later a, b, c and d; after `later`: a, b and d. */
async function open(settings: Readonly<Record<string, unknown>> = { guard: null }) {
  const reader = await openWith({}, settings);
  const { world } = reader;
  const send = async (messages: readonly { body: string }[]) =>
    messages.map(({ body }) => {
      world.eventsQueue.send({ body, attributes: {} });
      return { messageId: body.slice(0, 8) };
    });
  const ports = { ...world.toolPorts, ...calledBy('ann'), vault: {}, events: { send } } as never;
  const cwd = temporaryFolder();
  const cli = (...args: string[]) => runCli([...args, '--yes'], { ports, cwd });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  world.advance(HOUR_MS);
  const before = new Date(world.nowMs()).toISOString();
  world.advance(HOUR_MS);
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c', 'd'] });
  world.advance(HOUR_MS);
  const restore = backupOf(world.table, world.nowMs);
  const later = async () => {
    await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'd'] });
    world.advance(HOUR_MS);
  };
  return {
    ...reader,
    ports,
    cli,
    before,
    later,
    restore,
    users: () => [...(platformGroupsOf(reader)[0]?.users ?? [])].sort().join(' '),
    async undo(group: string) {
      const ran = await cli('undo', group, '--to', before);
      await reader.pass(20 * MINUTE_MS);
      return ran;
    },
    /** Returns the stays that the evidence of a group names: the user, and the actions that began and ended the stay. */
    async stays(group: string) {
      const made = await cli('evidence', group, '--since', '30d ago', '--file', 'out');
      expect(made.code).toBe(0);
      expect((await cli('evidence', 'verify', 'out')).code).toBe(0);
      const lines = readFileSync(join(cwd, 'out', 'access.jsonl'), 'utf8')
        .split('\n')
        .slice(0, -1);
      return lines
        .map((line) => JSON.parse(line))
        .map(
          ({ user, member, joined, left }) =>
            `${user} ${member !== null}: ${joined?.actor ?? '-'}, ${left?.actor ?? '-'}`,
        )
        .sort();
    },
    async membersAt(group: string, at: string) {
      const { json } = await cli('members', group, '--at', at, '--json');
      return json.members
        .map(({ user, states }: { user: string; states: string[] }) => `${user} ${states}`)
        .join(', ');
    },
  };
}

/** The user, whether the member is known, and who began and ended the stay. */
const STAYS = ['u-a true: test, -', 'u-b true: test, -', 'u-c true: test, test', 'u-d true: test, -'];

describe('after a takeover', () => {
  async function moved() {
    const company = await open();
    await company.later();
    const scim = await scimOf(company);
    const group = await scim.group('Group rowing', ['a', 'b', 'd']);
    const { world } = company;
    await takeOverGroups(await world.connection(), await plan(company, 'scim'), company.ports);
    await requeueDue(CONNECTION, world.toolPorts);
    await resumeConnection(CONNECTION, company.ports);
    await company.pass(60 * MINUTE_MS);
    return { ...company, group };
  }

  it('evidence of the new group names the stays since the creation of the platform group', async () => {
    const { group, stays, users } = await moved();
    expect(users()).toBe('u-a u-b u-d');
    expect(await stays(group)).toEqual(STAYS);
  });

  it('undo brings back the members from before, as members of the new source', async () => {
    const { group, membersAt, before, cli, undo, users } = await moved();
    expect(await membersAt(group, before)).toBe('u-a in, u-b in, u-c in');
    const { json } = await cli('person', 'c', '--at', before, '--json');
    expect(json.groups).toMatchObject([{ group, user: 'u-c', state: 'in' }]);
    expect((await undo('okta-1')).code).toBe(1);
    expect(users()).toBe('u-a u-b u-d');
    const ran = await undo(group);
    expect([ran.code, users()]).toEqual([3, 'u-a u-b u-c']);
    expect(ran.stderr).toContain('belongs to a SCIM client');
  });
});

describe('after a restore of the table', () => {
  async function restored() {
    const company = await open();
    const { world } = company;
    const duringMs = world.nowMs() + HOUR_MS / 2;
    await company.later();
    company.restore();
    await resumeConnection(CONNECTION, company.ports);
    await sweep(await world.connection(), world.toolPorts);
    await company.pass(HOUR_MS);
    return { ...company, during: new Date(duringMs).toISOString() };
  }

  it('the members of the lost time are uncertain, and those before it are certain', async () => {
    const { membersAt, before, during, users } = await restored();
    expect(users()).toBe('u-a u-b u-d');
    expect(await membersAt('okta-1', before)).toBe('u-a in, u-b in, u-c in');
    expect(await membersAt('okta-1', during)).toBe('u-a in, u-b in, u-c uncertain, u-d in');
  });

  it('evidence names the lost changes as those of another client', async () => {
    const { stays } = await restored();
    expect(await stays('okta-1')).toEqual([
      ...STAYS.slice(0, 2),
      'u-c true: test, another client',
      ...STAYS.slice(3),
    ]);
  });

  it('undo is written when the group is restated', async () => {
    const { undo, users, ports, pass, ref, world } = await restored();
    expect((await undo('okta-1')).code).toBe(0);
    await acceptRestored(ref('okta-1'), await world.connection(), ports);
    await pass(60 * MINUTE_MS);
    expect(users()).toBe('u-a u-b u-c');
  });
});

describe('after a change of the mode', () => {
  it.each(['additive', 'report'])(
    'to %s and back, evidence and undo know the whole history',
    async (mode) => {
      const company = await open();
      const { world, stays, undo, users, ports, pass, later } = company;
      const set = async (value: string) => {
        await changeSettings(await planSettings(CONNECTION, [{ key: 'mode', value }], ports), ports);
        await pass(20 * MINUTE_MS);
      };
      await set(mode);
      await set('authoritative');
      await later();
      await set(mode);
      await set('authoritative');
      world.advance(HOUR_MS);
      expect(await stays('okta-1')).toEqual(STAYS);
      await undo('okta-1');
      expect(users()).toBe('u-a u-b u-c');
    },
  );
});
