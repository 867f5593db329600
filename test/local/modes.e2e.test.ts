import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeLocalFile } from '../../local/local-file.ts';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { runCli } from '../support/cli/io.ts';
import { type DirectoryEvent, eventOf } from '../support/engine/test-engine.ts';
import { acmeOf, nativeEvent } from '../support/events.ts';
import { startLocalStack } from '../support/local-stack.ts';
import { AB, MODE_TABLE, type ModeStage } from '../support/operate/mode-table.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** The time in seconds that the platform may take to show a change. It shortens all waits for proof. */
const SETTLE_SECONDS = 1;
const MODES = ['authoritative', 'additive', 'report'] as const;
const modeOf = (line: number) => MODES[line % MODES.length] ?? 'report';
const PEOPLE = ['a', 'b', 'c', 'd', 'e'];
/** No line of the table removes so many people from its group. A larger removal is held. */
const MOST_REMOVED = 3;
const LEAVING = ['b', 'c', 'd', 'e'];

const ALONE = 'a leaver';
const folder = mkdtempSync(join(tmpdir(), 'groupsync-modes-'));
const localFile = join(folder, 'local.json');
let stack: Awaited<ReturnType<typeof startLocalStack>>;
/** The mode report creates no group, so the platform has its groups before the start. */
const existing = (prefix: string) => ({
  id: prefix,
  name: `Group ${prefix}-g`,
  spokeId: `${prefix}-g`,
  users: AB,
});

beforeAll(async () => {
  const {
    companies: [company],
    ...world
  } = acmeOf(PEOPLE, 'token');
  const policies = [
    { match: 'Group additive*', mode: 'additive' },
    { match: 'Group report*', mode: 'report' },
  ];
  stack = await startLocalStack({
    world: {
      ...world,
      companies: [
        {
          ...company,
          groups: [
            ...MODE_TABLE.map((_, at) => existing(`report-${at}`)),
            { id: 'theirs', name: 'Group adopted-g', spokeId: null, users: AB },
          ],
        },
      ],
    },
    pumpSeconds: 1,
    batchingWindowSeconds: 0,
    settings: [
      ['guard', { minSize: 1, maxRemovedShare: 1, maxRemovedCount: MOST_REMOVED, perHourCount: 10_000 }],
      ['groups.policies', policies],
      ['fourEyes', true],
    ],
  });
  process.env[ENVIRONMENT.createSettleSeconds] = String(SETTLE_SECONDS);
  writeLocalFile(localFile, stack.stack.address);
  // Within an hour, groupsync ends at most 5 % of the links.
  const others = Array.from({ length: 60 }, (_, at) => messageOf({ snapshot: `${at}`, of: [] }, 'other'));
  await stack.send(others);
  await stack.converge();
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

const cli = (line: string, user = 'system') =>
  runCli([...line.split(' '), '--json', '--local-file', localFile], { user });

/** Returns the event as a message. The names of its groups begin with `prefix`. */
function messageOf(event: DirectoryEvent, prefix: string): string {
  const placed = Object.fromEntries(
    Object.entries(event).map(([key, value]) => [
      key,
      ['upsert', 'remove', 'snapshot', 'to', 'from'].includes(key) ? `${prefix}-${value}` : value,
    ]),
  );
  const { type, data } = eventOf(placed as DirectoryEvent);
  return nativeEvent(type.replace('directory.', ''), data);
}

const post = (path: string, body: object) =>
  stack.control(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface PlatformGroup {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

/** Creates the group `g` with the users u-a and u-b, in sync. */
async function stageOf(prefix: string): Promise<ModeStage> {
  const groups = async () => {
    const { companies } = (await stack.control('state')) as { companies: { groups: PlatformGroup[] }[] };
    return companies[0]?.groups ?? [];
  };
  const deliver = async (...events: readonly DirectoryEvent[]) => {
    for (const event of events) await stack.send([messageOf(event, prefix)]);
    await stack.converge();
  };
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  const id = (await groups()).find(({ spokeId }) => spokeId === `${prefix}-g`)?.id;
  const now = async () => (await groups()).find((one) => one.id === id);
  return {
    deliver,
    async other(change) {
      if (change === 'delete') await stack.control(`groups/${id}`, { method: 'DELETE' });
      else await post(`groups/${id}`, { ...(await now()), ...change });
      for (let times = 0; times < 2; times += 1) {
        await wait(1_500 * SETTLE_SECONDS);
        await cli(`sync ${prefix}-g --yes`);
        await stack.converge();
      }
    },
    async people(...left) {
      for (const name of PEOPLE)
        await post('employees', {
          id: `r-${name}`,
          roleState: left.includes(name) ? 'TERMINATED' : 'ACTIVE',
        });
      await cli('people refresh');
      await stack.converge();
    },
    users: async () => (await now())?.users.toSorted(),
    name: async () => (await now())?.name.replace(`${prefix}-`, ''),
    isLinked: async () => (await cli(`status ${prefix}-g`)).json.platformId !== null,
    shown: async (group) =>
      (await groups())
        .filter(({ spokeId }) => spokeId === `${prefix}-${group}`)
        .map(({ users }) => users.toSorted()),
    async drift() {
      const { json } = await cli('log --limit 5000');
      return (json.entries as { group: string; action: string; outcome: string }[]).flatMap(
        ({ group, action, outcome }) =>
          group === `${prefix}-g` && action.startsWith('drift_') ? [`${action.slice(6)} ${outcome}`] : [],
      );
    },
  };
}

it(
  'each line has its result in one of the modes',
  async () => {
    // test/operate/mode.test.ts proves each line in each mode.
    const rows = [...MODE_TABLE.entries()].map(([at, row]) => ({ at, row, mode: modeOf(at) }));
    const check = async ({ mode, at, row: [line, happens, results, reads] }: (typeof rows)[number]) => {
      const stage = await stageOf(`${mode}-${at}`);
      await happens(stage);
      expect.soft(await (reads ?? stage.users)(stage), `${line}, ${mode}`).toEqual(results[mode]);
    };
    await Promise.all(rows.map((one) => one.row[0] !== ALONE && check(one)));
    for (const one of rows.filter(({ row }) => row[0] === ALONE)) {
      await check(one);
      await (await stageOf(`${one.mode}-${one.at}`)).people();
    }
  },
  PATIENCE_MS,
);

it(
  'of two operators and two approvers, the person who caused a removal cannot approve it',
  async () => {
    const { deliver, users } = await stageOf('life');
    await deliver({ add: ['c', 'd', 'e'], to: 'g' });
    const decide = async (verb: string, group: string, user: string) => {
      const { code, stderr } = await cli(`holds ${verb} ${group} --reason r --yes`, user);
      await stack.converge();
      return [code, /other than local:(\w+)/.exec(stderr)?.[1]];
    };
    const removedBy = async (user: string) => {
      const file = join(folder, 'events.jsonl');
      writeFileSync(file, messageOf({ take: LEAVING, from: 'g' }, 'life'));
      await cli(`events send ${file} --yes`, user);
      await stack.converge();
      const { json } = await cli('holds show life-g');
      return [json.decision, json.members.map((one: { user: string }) => one.user)];
    };
    expect(await removedBy('ann')).toEqual(['waiting', LEAVING.map((name) => `u-${name}`)]);
    expect(await decide('approve', 'life-g', 'ann')).toEqual([1, 'ann']);
    expect(await decide('reject', 'life-g', 'bob')).toEqual([0, undefined]);
    expect(await users()).toEqual([...AB, 'u-c', 'u-d', 'u-e']);
    await deliver({ add: LEAVING, to: 'g' });
    expect(await removedBy('bob')).toEqual(['waiting', LEAVING.map((name) => `u-${name}`)]);
    expect(await decide('approve', 'life-g', 'bob')).toEqual([1, 'bob']);
    expect(await decide('approve', 'life-g', 'cid')).toEqual([0, undefined]);
    expect(await users()).toEqual(['u-a']);
    expect(await decide('approve', 'life-g', 'dee')).toEqual([1, undefined]);

    await stack.send([messageOf({ snapshot: 'g', of: ['a'] }, 'adopted')]);
    await stack.converge();
    expect((await cli('adopt adopted-g theirs --yes', 'ann')).code).toBe(0);
    await stack.converge();
    expect(await decide('approve', 'adopted-g', 'ann')).toEqual([1, 'ann']);
    expect(await decide('approve', 'adopted-g', 'dee')).toEqual([0, undefined]);
    expect((await cli('status adopted-g')).json.users).toEqual(['u-a']);
    for (const group of ['life-g', 'adopted-g']) expect((await cli(`audit ${group} --verify`)).code).toBe(0);
  },
  PATIENCE_MS,
);
