import { expect } from 'vitest';
import { temporaryFile } from '../folder.ts';
import { added, group, savedWorld } from '../operate/world.ts';
import { type Around, runCli } from './io.ts';

export type Bytes = string | Uint8Array;

/** Creates a deployment with one known group, and a command line that imports an exported file. */
export async function importing() {
  const world = await savedWorld();
  await world.hire('ann', 'ben');
  await world.publish(group('00g1', 'Sales'), added('00g1', 'ann'));
  world.clock.ms += 60_000;
  const cli = (content: Bytes, ...flags: string[]) => answering([], content, ...flags);
  const answering = (person: Around['person'], content: Bytes, ...flags: string[]) =>
    runCli(['import', temporaryFile('export.csv', content), '--as-of', 'now', ...flags], {
      ports: world.ports,
      ...(person?.length && { person }),
    });
  const snapshots = async (content: Bytes, ...flags: string[]) => {
    const ran = await cli(content, ...flags, '--yes');
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
    return world.sent.map(({ body }) => JSON.parse(body)).map(({ type, data }) => ({ type, ...data }));
  };
  return { ...world, cli, answering, snapshots };
}

export const snapshot = (id: string, name: string, ...members: readonly [string, string?][]) => ({
  type: 'directory.group.snapshot',
  group: { id, name },
  members: members.map(([member, email]) => (email === undefined ? { id: member } : { id: member, email })),
});
