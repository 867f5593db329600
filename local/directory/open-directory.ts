import * as z from 'zod';
import { createDirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import { shellWord } from '../../shared/operate/names.ts';
import { ADMINISTRATOR } from './world-of-events.ts';

/** A running directory simulator, with the setting and the secret that a connection needs to read it. */
export interface OpenDirectory {
  readonly url: string;
  /** Value of the setting `directory`. */
  readonly setting: { readonly kind: 'google'; readonly administrator: string; readonly baseUrl: string };
  /** Content of the directory's secret. */
  readonly key: Readonly<Record<string, unknown>>;
  /** A command that makes a change in this directory; undefined if no group has a member. */
  readonly tryCommand: string | undefined;
  readonly close: () => Promise<void>;
}

const KeyFile = z.record(z.string(), z.unknown());

/** Returns a command that removes one member from the first group that has one. */
function tryCommandOf({ groups = [] }: WorldInput, url: string): string | undefined {
  for (const { id, members: [first] = [] } of groups) {
    if (first === undefined) continue;
    const change = JSON.stringify({ kind: 'removeMember', group: id, member: first.member });
    return `curl -X POST ${url}/_simulator/changes -H 'content-type: application/json' -d ${shellWord(change)}`;
  }
  return undefined;
}

export async function openDirectory(world: WorldInput): Promise<OpenDirectory> {
  const simulator = createDirectorySimulator({
    dialect: google({}),
    world,
    seed: '1',
    clock: Date.now,
    onDefect: (error) => console.error(error),
  });
  try {
    const { url } = await simulator.listen();
    const answer = await simulator.app.inject({
      method: 'POST',
      url: '/_simulator/service-account-key',
      payload: { url },
    });
    return {
      url,
      setting: { kind: 'google', administrator: ADMINISTRATOR, baseUrl: url },
      key: KeyFile.parse(answer.json()),
      tryCommand: tryCommandOf(world, url),
      close: () => simulator.close(),
    };
  } catch (error) {
    await simulator.close();
    throw error;
  }
}
