import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import { temporaryFolder } from '../support/folder.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { readDirectory } from '../support/reading.ts';
import { expectedGroups, platformGroups, reportedGroups } from './support/expected.ts';
import { companyOf, drawEvents, shuffledWithDuplicates } from './support/numbered-company.ts';
import { ROOT, startProcess } from './support/process.ts';

/** The seed decides the times of the kills. GROUPSYNC_TEST_SEED sets another seed. */
const SEED = process.env['GROUPSYNC_TEST_SEED'] ?? 'kill';
const KILLS = 4;
/** The longest time between a start and a kill. Within this time, a run reads the people and writes some groups. */
const MAX_RUN_MS = 6_000;
const PEOPLE = 60;
/** Five times the duration of the last run on an idle machine (150 s). */
const MAX_RECOVERY_MS = 750_000;

it(
  `npm start --data loses no change if kill -9 ends it ${KILLS} times (seed ${SEED})`,
  async () => {
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    const world = companyOf(PEOPLE);
    const endMs = Date.now();
    const events = drawEvents({ seed: 'life', groups: 10, people: PEOPLE, changes: 300, endMs });
    writeFileSync(at('world.json'), JSON.stringify(world));
    writeFileSync(
      at('events.jsonl'),
      shuffledWithDuplicates(events, SEED)
        .map((event) => JSON.stringify(event))
        .join('\n'),
    );
    const files = ['--events', at('events.jsonl'), '--world', at('world.json'), '--data', at('data')];
    const how = '--reconcile-every 1 --setting guard=null --json --local-file'.split(' ');
    const args = [...files, ...how, at('local.json')];
    const start = () => {
      const env = { ...process.env, GROUPSYNC_COALESCE_SECONDS: '1' };
      const started = startProcess(process.execPath, [join(ROOT, 'scripts/start.mjs'), ...args], { env });
      onTestFinished(() => void started.signal('SIGKILL'));
      return started;
    };

    const random = seededRandom(SEED);
    for (let kill = 0; kill < KILLS; kill += 1) {
      rmSync(at('local.json'), { force: true });
      const { exit, signal } = start();
      await vi.waitUntil(() => existsSync(at('local.json')), { timeout: PATIENCE_MS, interval: 10 });
      await wait(random.below(MAX_RUN_MS));
      signal('SIGKILL');
      await exit;
    }

    const { output, exit } = start();
    // groupsync writes a group again two to three minutes after an interrupted write.
    const isReported = () => output.stdout.endsWith('\n');
    const reported = vi.waitUntil(isReported, { timeout: MAX_RECOVERY_MS, interval: 20 });
    const ended = exit.then(({ code, stderr }) => {
      if (!isReported()) throw new Error(`expected a report, but it ended with ${code}: ${stderr}`);
    });
    await Promise.race([reported, ended]);
    const { groups, endpoints } = JSON.parse(output.stdout);
    const expected = expectedGroups(readDirectory(events), world);
    expect(expected.length).toBeGreaterThan(5);
    expect(reportedGroups(groups)).toEqual(expected);
    const state = (await (await fetch(`${endpoints.platform}/_simulator/state`)).json()) as {
      companies: { groups: Parameters<typeof platformGroups>[0] }[];
    };
    const onPlatform = platformGroups(state.companies[0]?.groups ?? []);
    expect(onPlatform).toEqual(expected.map(({ pending: _, ...group }) => group));
    expect(output.stderr).not.toMatch(/Error/);
  },
  MAX_RECOVERY_MS + PATIENCE_MS,
);
