import type { DirectoryPreview, DirectoryStepRow } from '../../contract/answers/directory.ts';
import type { DirectorySetting } from '../../contract/directory-settings.ts';
import { mayCreate, selectionOf } from '../../contract/group-policy.ts';
import { renderName } from '../../contract/name-template.ts';
import type { GroupId } from '../../domain/ids.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import { isWhole, type View } from '../../domain/view.ts';
import type { JournalPorts } from '../../operate/journal.ts';
import { clashFinder, findExisting } from '../../plan/names.ts';
import { whyUncounted } from '../../plan/removal-cause.ts';
import { currentEligibility } from '../../sync/match/resolve.ts';
import { openPlatform } from '../../sync/open-platform.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type UserState, undescribed } from '../../sync/ports/desired.ts';
import { failureIn } from '../../sync/ports/platform.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';
import {
  type Directories,
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryStep,
  type DirectoryUser,
} from '../ports.ts';
import { type GroupAsOf, othersOf } from '../reading/context.ts';
import { attributesOfUser } from '../reading/events.ts';
import { readWhole } from '../reading/whole-group.ts';
import type { SourceGroupPorts } from './source-groups.ts';
import type { ShownDirectory } from './through-function.ts';

/** The number of groups that are read completely for the preview. */
const SAMPLE = 10;

/** The ports of the deployed function to try a directory. They do not include the platform or the apply queue. */
type TryPorts = Pick<DirectoryToolPorts, 'people' | 'index' | 'groups' | 'reader' | 'clock'>;

type NamedGroup = Pick<DirectoryGroup, 'id' | 'name'>;

/** The part of a preview that needs only the directory. */
interface DirectoryTrial {
  readonly preview: Omit<DirectoryPreview, 'adoptable'>;
  readonly selected: readonly NamedGroup[];
}

/** Tries the steps of reading a directory. If all steps work, it also returns a preview. */
export async function tryDirectory(
  connection: Connection,
  setting: DirectorySetting,
  ports: TryPorts & { readonly directories: Directories },
) {
  const wanted = { ...connection, settings: { ...connection.settings, directory: setting } };
  const steps = (await ports.directories.examine(wanted)).map(rowOfStep);
  if (steps.some(({ problem }) => problem !== null)) return { steps, trial: null };
  const directory = await ports.directories.open(wanted);
  return { steps, trial: await readTrial(wanted, directory, ports) };
}

export async function examineDirectory(
  connection: Connection,
  { directories }: { readonly directories: Directories },
): Promise<{ readonly steps: readonly DirectoryStepRow[] }> {
  const steps = await directories.examine(connection, selectionOf(connection.settings));
  return { steps: steps.map(rowOfStep) };
}

export const rowOfStep = ({ step, failure, detail }: DirectoryStep): DirectoryStepRow => ({
  step,
  problem: failure?.message ?? null,
  reason: failure?.reason ?? null,
  detail: detail ?? null,
  retries: failure?.kind === 'busy' || failure?.kind === 'unavailable',
});

/**
 * Tries a directory before it is connected, with every kind of call that the reader makes. Returns the number of groups
 * that the reader would sync, and for the first groups the number of members with an employee. Changes nothing.
 * @throws DirectoryError if a call is refused
 */
export async function previewDirectory(
  connection: Connection,
  directory: Directory,
  ports: DirectoryToolPorts,
): Promise<DirectoryPreview> {
  return comparePlatform(connection, await readTrial(connection, directory, ports), ports);
}

export async function comparePlatform(
  connection: Connection,
  { preview, selected }: DirectoryTrial,
  ports: DirectoryToolPorts,
): Promise<DirectoryPreview> {
  return { ...preview, adoptable: await countAdoptable(connection, selected, ports) };
}

async function readTrial(connection: Connection, directory: Directory, ports: TryPorts) {
  const { listed, selected } = await listDirectory(directory, connection);
  // Reading users and reading reports each need a separate right.
  await directory.tryUsers();
  await directory.changesSince(await directory.cursorAt(ports.clock()));
  const sample: DirectoryPreview['sample'][number][] = [];
  for (const { group } of selected.slice(0, SAMPLE)) {
    const users = await readUsers(group.id, listed, connection, directory);
    sample.push({
      group: group.id,
      name: group.name,
      members: typeof users === 'string' ? 0 : users.length,
      matched: typeof users === 'string' ? 0 : await countMatched(users, connection, ports),
      problem: typeof users === 'string' ? users : null,
    });
  }
  const others = [...(await othersOf(connection.name, ports)).ids];
  return {
    preview: { listed: listed.size, selected: selected.length, sample, others },
    selected: selected.map(({ group: { id, name } }) => ({ id, name })),
  };
}

/**
 * @returns null if the platform cannot be read. The directory can still be connected
 */
async function countAdoptable(
  connection: Connection,
  selected: readonly NamedGroup[],
  ports: DirectoryToolPorts,
): Promise<number | null> {
  let count = 0;
  const failure = await failureIn(async () => {
    const platform = await readPlatformGroups(connection, ports);
    count = selected.filter((group) => platform.adoptedBy(group) !== undefined).length;
  });
  return failure === undefined ? count : null;
}

/**
 * Returns the members of a group that count, or the reason why the group cannot be read. This read is the first one, so
 * there are no nested groups of an earlier read.
 */
export async function readUsers(
  group: GroupId,
  listed: DirectoryListing['listed'],
  { settings }: Pick<Connection, 'settings'>,
  directory: ShownDirectory,
): Promise<readonly DirectoryUser[] | string> {
  const { nested } = settings;
  const first = { listed, nested, known: [], questions: { unproven: async () => [] } };
  try {
    const whole = await readWhole(directory, group, first);
    if (whole === undefined) return 'the directory does not find the group';
    if (whole.isShort) return 'the directory lists fewer members than it counts';
    return [...whole.users.values()].filter(
      (user) => whyUncounted(registersOf(user), settings) === undefined,
    );
  } catch (error) {
    if (error instanceof DirectoryError && error.kind === 'invalid') return error.message;
    throw error;
  }
}

const registersOf = (user: DirectoryUser) =>
  new Map([...attributesOfUser(user)].map(([name, value]) => [name, { value, stamp: STAMP_ZERO }]));

/** Returns whether a user of the directory is a person on the platform. @param known what is stored about the user */
export const eligibilityIn = (
  user: DirectoryUser,
  connection: Connection,
  { people }: Pick<DirectoryToolPorts, 'people'>,
  known?: UserState,
) => {
  const described = { ...(known ?? undescribed(user.id)), attributes: registersOf(user) };
  return currentEligibility(described, undefined, { connection, people });
};

async function countMatched(
  users: readonly DirectoryUser[],
  connection: Connection,
  ports: Pick<DirectoryToolPorts, 'people'>,
): Promise<number> {
  const found = await mapConcurrently(READS_IN_FLIGHT, users, (user) =>
    eligibilityIn(user, connection, ports),
  );
  return found.filter(({ person }) => person !== undefined).length;
}

export type DirectoryToolPorts = JournalPorts &
  SourceGroupPorts &
  Pick<ToolPorts, 'claims' | 'connections' | 'desired' | 'people' | 'platforms' | 'sleep' | 'users'>;

export interface DirectoryListing {
  readonly listed: ReadonlyMap<GroupId, GroupAsOf>;
  /** The groups that the settings `groups.include` and `groups.exclude` select. */
  readonly selected: readonly GroupAsOf[];
}

/** Lists every group of a directory. @throws DirectoryError */
export async function listDirectory(
  directory: Pick<Directory, 'groups'>,
  { settings }: Pick<Connection, 'settings'>,
): Promise<DirectoryListing> {
  const listed = new Map<GroupId, GroupAsOf>();
  for await (const { items, asOfMs } of directory.groups()) {
    for (const group of items) listed.set(group.id, { group, asOfMs });
  }
  const isSelected = selectionOf(settings);
  return { listed, selected: [...listed.values()].filter(({ group }) => isSelected(group)) };
}

/** The platform groups that a first run of the reader would find. */
export type GroupsOnPlatform = Awaited<ReturnType<typeof readPlatformGroups>>;

/** @throws PlatformFailure */
export async function readPlatformGroups(connection: Connection, ports: DirectoryToolPorts) {
  const { settings, company, name: connectionName } = connection;
  const listed = await (await openPlatform(connection, ports)).groups.list(0);
  const unmanaged = await unmanagedOf(listed, company, ports);
  const clashesWith = clashFinder(unmanaged);
  const wantedFor = ({ id, name: named }: Pick<DirectoryGroup, 'id' | 'name'>): View => {
    const name = renderName(settings.nameTemplate, { name: named, id, connection: connectionName });
    return { name, spokeId: id, users: new Map() };
  };
  return {
    byId: new Map(listed.map((group) => [group.id, group])),
    unmanaged,
    adoptedBy: (group: Pick<DirectoryGroup, 'id' | 'name'>) =>
      findExisting(wantedFor(group), unmanaged).candidates.filter(isWhole)[0],
    hasClash: (group: Pick<DirectoryGroup, 'id' | 'name'>) => clashesWith(wantedFor(group)).length > 0,
    /** Returns true if the first run may create a platform group for this directory group. */
    mayCreate: ({ id, name }: DirectoryGroup) => mayCreate(settings, id, name),
  };
}
