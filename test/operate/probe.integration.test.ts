import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlatform } from '../../local/open-platform.ts';
import { probePlatform } from '../../shared/operate/probe.ts';
import { createPlatforms } from '../../shared/platform/platforms.ts';
import { createWorld } from '../support/operate/world.ts';

const TOKEN = 'an-example-token';
const WORLD = {
  companies: [{ id: 'acme', name: 'Acme', employees: [], groups: [] }],
  credentials: [{ token: TOKEN, kind: 'oauth_app' as const, company: 'acme' }],
};

/** What the probe finds of the platform simulator over HTTP, with these settings of it. */
async function foundWith(settings: object) {
  const simulator = await openPlatform({ world: WORLD, dataFile: undefined, port: 0 });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.close();
    await simulator.close();
  });
  const set = await fetch(`${simulator.url}/_simulator/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  });
  expect(set.status).toBe(200);
  const { ports, connection } = createWorld({ baseUrl: simulator.url });
  const acme = { ...connection, company: 'acme' };
  await ports.connections.save(acme);
  const secrets = { read: async () => ({ value: { token: TOKEN }, version: '1' }), write: async () => '1' };
  const sleep = async () => {};
  const real = { clock: Date.now, sleep };
  const platforms = createPlatforms({ ...ports, ...real, secrets, dispatcher } as never);
  const request = { connection: acme, by: 'me', signal: new AbortController().signal, tell: () => {} };
  const report = await probePlatform(request, { ...ports, ...real, platforms });
  expect(report).toMatchObject({ kept: true, stopped: null, left: [] });
  const groups = await (await platforms.open(acme)).groups.list(0);
  expect(groups).toEqual([]);
  return Object.fromEntries(report.findings.map(({ about, found }) => [about, found]));
}

const honoured = (status: number) => `honoured: a stale version is refused with ${status}`;

describe('probe of the platform simulator', () => {
  it.each<[settings: object, about: string, found: string]>([
    [{}, 'PATCH version', honoured(409)],
    [
      { enforceVersionOnPatch: false },
      'PATCH version',
      'ignored: every write that carries users is preceded by a look',
    ],
    [{ enforceVersionOnPatch: false }, 'PUT version', honoured(409)],
    [{ staleVersionStatus: 412 }, 'PATCH version', honoured(412)],
    [{ staleVersionStatus: 400 }, 'PUT version', honoured(400)],
    [{ staleVersionStatus: 422 }, 'PATCH version', honoured(422)],
    [{ requireVersion: true }, 'PATCH version', honoured(409)],
    [{}, 'spokeId shown by', 'answer, get, list'],
    [{ echoSpokeId: false }, 'spokeId shown by', 'nothing'],
    [{ endOfFeed: 'absent' }, 'changes in the activity feed', 'at once'],
    [{ endOfFeed: 'null' }, 'activity parameter limit', 'honoured'],
  ])('with %j tells of %s: %s', async (settings, about, found) => {
    expect((await foundWith(settings))[about]).toBe(found);
  });
});
