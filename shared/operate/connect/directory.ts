import type { DirectoryPreview, DirectoryStepRow } from '../../contract/answers.ts';
import { policyFor } from '../../contract/group-policy.ts';
import type { DirectorySetting } from '../../contract/settings.ts';
import { groupExists } from '../../domain/group.ts';
import type { GroupId } from '../../domain/ids.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import type { ListedGroup } from '../../sync/directory/context.ts';
import { readWhole } from '../../sync/directory/whole-group.ts';
import { atOnce, gather } from '../../sync/gather.ts';
import { standingNow } from '../../sync/match/member-standing.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { undescribed } from '../../sync/ports/desired.ts';
import {
  type Directories,
  type Directory,
  DirectoryError,
  type DirectoryStep,
  type DirectoryUser,
} from '../../sync/ports/directory.ts';
import { READS_IN_FLIGHT } from '../../sync/tuning.ts';

/** Groups that are read whole for the preview. */
const SAMPLE = 10;

export type PreviewPorts = Pick<ToolPorts, 'people' | 'index' | 'groups' | 'clock'>;

/** The steps of reading a directory, and if all of them work what it would bring. */
export async function tryDirectory(
  connection: Connection,
  setting: DirectorySetting,
  ports: PreviewPorts & { readonly directories: Directories },
): Promise<{ readonly steps: readonly DirectoryStepRow[]; readonly preview: DirectoryPreview | null }> {
  const wanted = { ...connection, settings: { ...connection.settings, directory: setting } };
  const { steps } = await examineDirectory(wanted, ports);
  if (steps.some(({ problem }) => problem !== null)) return { steps, preview: null };
  const directory = await ports.directories.open(wanted);
  return { steps, preview: await previewDirectory(wanted, directory, setting, ports) };
}

/** The steps of reading the directory of a connection. */
export const examineDirectory = async (
  connection: Connection,
  { directories }: { readonly directories: Directories },
): Promise<{ readonly steps: readonly DirectoryStepRow[] }> => ({
  steps: (await directories.examine(connection)).map(rowOfStep),
});

const rowOfStep = ({ step, failure }: DirectoryStep): DirectoryStepRow => ({
  step,
  problem: failure?.message ?? null,
  reason: failure?.reason ?? null,
  retries: failure?.kind === 'busy' || failure?.kind === 'unavailable',
});

/**
 * Tries a directory before it is connected: every kind of call that the reader makes, the groups that it would take, and
 * how many members of the first groups have an employee. Changes nothing.
 * @throws DirectoryError if a call is refused
 */
export async function previewDirectory(
  connection: Connection,
  directory: Directory,
  { administrator }: DirectorySetting,
  ports: PreviewPorts,
): Promise<DirectoryPreview> {
  const listed = new Map<GroupId, ListedGroup>();
  for await (const { items, asOfMs } of directory.groups()) {
    for (const group of items) listed.set(group.id, { group, asOfMs });
  }
  // Users and reports have rights of their own.
  await directory.user(administrator);
  await directory.changesSince(directory.cursorAt(ports.clock()));
  const selected = [...listed.values()].filter(
    ({ group: { id, name } }) => !policyFor(connection.settings, id, name).excluded,
  );
  const sample: DirectoryPreview['sample'][number][] = [];
  for (const { group } of selected.slice(0, SAMPLE)) {
    const users = await usersOf(group.id, { connection, directory, listed });
    sample.push({
      group: group.id,
      name: group.name,
      members: typeof users === 'string' ? 0 : users.length,
      matched: typeof users === 'string' ? 0 : await countMatched(users, connection, ports),
      problem: typeof users === 'string' ? users : null,
    });
  }
  const stored = await gather(ports.index.all(connection.name));
  const unlisted = stored.map(({ ref }) => ref).filter(({ group }) => !listed.has(group));
  const existing = (await ports.groups.readMany(unlisted)).filter(({ registers }) => groupExists(registers));
  const others = existing.map(({ ref }) => ref.group);
  return { listed: listed.size, selected: selected.length, sample, others };
}

interface Trying {
  readonly connection: Connection;
  readonly directory: Directory;
  readonly listed: ReadonlyMap<GroupId, ListedGroup>;
}

/** @returns why the group cannot be read, if that is of this group alone */
async function usersOf(
  group: GroupId,
  { connection, directory, listed }: Trying,
): Promise<readonly DirectoryUser[] | string> {
  try {
    const { nested } = connection.settings;
    const whole = await readWhole(directory, group, { listed, nested, known: [] });
    return [...(whole?.users.values() ?? [])];
  } catch (error) {
    if (error instanceof DirectoryError && error.kind === 'odd') return error.message;
    throw error;
  }
}

async function countMatched(
  users: readonly DirectoryUser[],
  connection: Connection,
  { people }: PreviewPorts,
): Promise<number> {
  const found = await atOnce(READS_IN_FLIGHT, users, async ({ id, attributes }) => {
    const registers = [...attributes].map(([name, value]) => [name, { value, stamp: STAMP_ZERO }] as const);
    const user = { ...undescribed(id), attributes: new Map(registers) };
    return (await standingNow(user, undefined, { connection, people })).person;
  });
  return found.filter((person) => person !== undefined).length;
}
