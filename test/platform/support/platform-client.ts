import { afterEach } from 'vitest';
import type { PlatformClientOptions } from '../../../shared/platform/caller.ts';
import { createPlatformClient, type PlatformClient } from '../../../shared/platform/client.ts';
import { staticBearer } from '../../../shared/platform/credential.ts';
import { type Answer, type ScriptedPlatform, type Seen, startScriptedPlatform } from './scripted-platform.ts';

export const TOKEN = 'tok-3f9a7c1e5b';

/** A clock that only `sleep` advances. It records each duration. */
interface FakeTime {
  nowMs: number;
  readonly waits: number[];
  readonly clock: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export function fakeTime(nowMs = Date.UTC(2026, 10, 20, 10)): FakeTime {
  const time: FakeTime = {
    nowMs,
    waits: [],
    clock: () => time.nowMs,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      time.waits.push(ms);
      time.nowMs += ms;
    },
  };
  return time;
}

interface Rig {
  readonly client: PlatformClient;
  readonly platform: ScriptedPlatform;
  readonly time: FakeTime;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/**
 * Creates a client and a scripted platform, which are closed after the test. The client's `random` always returns 0.5.
 */
export async function rig(
  script: (request: Seen, index: number) => Answer | Promise<Answer>,
  options: Partial<PlatformClientOptions> = {},
): Promise<Rig> {
  const platform = await startScriptedPlatform(script);
  const time = fakeTime();
  const client = createPlatformClient({
    baseUrl: platform.url,
    credential: staticBearer(TOKEN),
    clock: time.clock,
    random: () => 0.5,
    sleep: time.sleep,
    ...options,
  });
  open.push(async () => {
    await platform.close();
    await client.close();
  });
  return { client, platform, time };
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
