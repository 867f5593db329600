import type { DirectoryPreview } from '../../contract/answers.ts';
import type { DirectorySetting } from '../../contract/settings.ts';
import type { GroupId } from '../../domain/ids.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import { mapConcurrently } from '../../sync/async-collections.ts';
import type { ListedGroup } from '../../sync/directory/context.ts';
import { readWhole } from '../../sync/directory/whole-group.ts';
import { currentEligibility } from '../../sync/match/eligibility.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { undescribed } from '../../sync/ports/desired.ts';
import { type Directory, DirectoryError, type DirectoryUser } from '../../sync/ports/directory.ts';
import { failureIn } from '../../sync/ports/platform.ts';
import { READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { type DirectoryToolPorts, listDirectory } from './listing.ts';
import { readPlatformGroups } from './platform-groups.ts';
import { otherSourcesOf } from './takeover.ts';

/** Groups that are read whole for the preview. */
const SAMPLE = 10;

/**
 * Tries a directory before it is connected: every kind of call that the reader makes, the groups that it would take, and
 * how many members of the first groups have an employee. Changes nothing.
 * @throws DirectoryError if a call is refused
 */
export async function previewDirectory(
  connection: Connection,
  directory: Directory,
  { administrator }: DirectorySetting,
  ports: DirectoryToolPorts,
): Promise<DirectoryPreview> {
  const { listed, selected } = await listDirectory(directory, connection);
  // Users and reports have rights of their own.
  await directory.user(administrator);
  await directory.changesSince(directory.cursorAt(ports.clock()));
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
  const others = await otherSourcesOf(connection, ports);
  const adoptable = await countAdoptable(connection, selected, ports);
  return { listed: listed.size, selected: selected.length, sample, others, adoptable };
}

/** A platform that cannot be read now keeps no directory from being connected. */
async function countAdoptable(
  connection: Connection,
  selected: readonly ListedGroup[],
  ports: DirectoryToolPorts,
): Promise<number | null> {
  let count = 0;
  const failure = await failureIn(async () => {
    const platform = await readPlatformGroups(connection, ports);
    count = selected.filter(({ group }) => platform.adoptedBy(group) !== undefined).length;
  });
  return failure === undefined ? count : null;
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
  { people }: Pick<DirectoryToolPorts, 'people'>,
): Promise<number> {
  const found = await mapConcurrently(READS_IN_FLIGHT, users, async ({ id, attributes }) => {
    const registers = [...attributes].map(([name, value]) => [name, { value, stamp: STAMP_ZERO }] as const);
    const user = { ...undescribed(id), attributes: new Map(registers) };
    return (await currentEligibility(user, undefined, { connection, people })).person;
  });
  return found.filter((person) => person !== undefined).length;
}
