import type { AdoptedPair, ImportComparison } from '../../contract/answers.ts';
import { mayCreate } from '../../contract/group-policy.ts';
import { renderName } from '../../contract/name-template.ts';
import { groupFloor, memberCounts } from '../../domain/group.ts';
import { type GroupRef, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { makeStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { ListedGroup } from '../../domain/view.ts';
import { judgeRemovals, NOTHING_REMOVED } from '../../plan/guard.ts';
import { clashFinder } from '../../plan/name-clash.ts';
import { atOnce } from '../../sync/gather.ts';
import { standingNow } from '../../sync/member-standing.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { undescribed } from '../../sync/ports/desired.ts';
import { failureIn } from '../../sync/ports/platform.ts';
import { READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';
import type { Row } from './rows.ts';

/** Members that are listed one by one of each kind. */
const LISTED = 100;

/** What a file would change, held against what the directory says now, and has said since the
 * file was true: one group after the other, read from the table. */
export async function compareWithNow(
  rows: readonly Row[],
  asOf: string,
  connection: Connection,
  ports: ToolPorts,
): Promise<ImportComparison> {
  const found = { added: 0, removed: 0, unmatched: 0, changes: [] as ImportComparison['changes'][number][] };
  const held: string[] = [];
  const created: { readonly group: string; readonly name: string }[] = [];
  const renamed: ImportComparison['renamed'][number][] = [];
  const stamp = makeStamp({ time: asOf, id: 'import', source: '' });
  for (const { group, groupName, members } of byGroup(rows)) {
    const note = (kind: 'added' | 'removed' | 'unmatched', member: MemberId) => {
      found[kind] += 1;
      const email = members.get(member) || null;
      if (found[kind] <= LISTED) found.changes.push({ kind, group, groupName, member, email });
    };
    const ref = { connection: connection.name, group: groupId(group) };
    const { state, now, size, known, isStated, name } = await readNow(ref, [...members.keys()], ports);
    const isNamedByFile = name === undefined || name.stamp < stamp;
    const willBeNamed = isNamedByFile ? groupName : name.value;
    const isOnPlatform = state?.platformId !== undefined || state?.released === true;
    if (!isOnPlatform && mayCreate(connection.settings, group, willBeNamed))
      created.push({ group, name: willBeNamed });
    if (name !== undefined && name.value !== groupName && isNamedByFile)
      renamed.push({ group, before: name.value, groupName });
    const gone = [...now].filter((member) => !members.has(member) && !isStated(member, stamp));
    for (const member of gone) note('removed', member);
    const fresh = [...members].filter(([member]) => !now.has(member) && !isStated(member, stamp));
    const standings = await atOnce(READS_IN_FLIGHT, fresh, ([member, email]) => {
      const attributes = new Map([['email', { value: email, stamp: STAMP_ZERO }]]);
      const user = known.get(member) ?? { ...undescribed(member), ...(email !== '' && { attributes }) };
      return standingNow(user, undefined, { connection, people: ports.people });
    });
    for (const [at, [member]] of fresh.entries()) {
      note('added', member);
      if (standings[at]?.cause === 'unknown') note('unmatched', member);
    }
    const limits = connection.settings.guard;
    const asked = { limits, size, removals: gone.length, deletesGroup: false };
    if (!judgeRemovals({ ...asked, recent: NOTHING_REMOVED }).allowed) held.push(group);
  }
  return { ...found, held, renamed, clashes: await clashesOf(created, connection, ports) };
}

/** Existing platform groups with the names of new groups. @returns null if the platform cannot be read */
async function clashesOf(
  created: readonly { readonly group: string; readonly name: string }[],
  connection: Connection,
  ports: ToolPorts,
): Promise<readonly AdoptedPair[] | null> {
  if (created.length === 0) return [];
  const { name: connectionName, company, settings } = connection;
  let listed: readonly ListedGroup[] = [];
  const failure = await failureIn(async () => {
    listed = await (await ports.platforms.open(connection)).groups.list(0);
  });
  if (failure !== undefined) return null;
  const clashesWith = clashFinder(listed, settings.adoptExisting);
  const found = created.flatMap(({ group, name }) => {
    const sent = renderName(settings.nameTemplate, { name, id: group, connection: connectionName });
    return clashesWith({ name: sent, spokeId: group }).map((one) => ({ ...one, group }));
  });
  const unmanaged = await unmanagedOf(found, company, ports);
  return unmanaged.map(({ group, id, name }) => ({ group, name, platformId: id }));
}

async function readNow(ref: GroupRef, members: readonly MemberId[], ports: ToolPorts) {
  const state = await ports.groups.read(ref);
  const registers = state === undefined ? [] : await ports.groups.members(ref);
  const ids = new Set([...members, ...registers.map(({ member }) => member)]);
  const known = await ports.users.read(ref.connection, [...ids]);
  const floor = state === undefined ? STAMP_ZERO : groupFloor(state.registers);
  const now = new Set(
    registers
      .filter((one) =>
        memberCounts(one, floor, known.get(one.member)?.floor ?? one.user?.floor ?? STAMP_ZERO),
      )
      .map(({ member }) => member),
  );
  const stampOf = new Map(registers.map((one) => [one.member, one.stamp]));
  /** Whether the directory has said something later. */
  const isStated = (member: MemberId, asOf: Stamp) =>
    [floor, stampOf.get(member), known.get(member)?.floor].some((said = STAMP_ZERO) => said > asOf);
  const size = Math.max(now.size, state?.view?.size ?? 0);
  return { state, now, known, isStated, size, name: state?.registers.name };
}

function* byGroup(rows: readonly Row[]) {
  let current: { group: string; groupName: string; members: Map<MemberId, string> } | undefined;
  for (const { group, name, member, email } of rows) {
    if (current?.group !== group) {
      if (current !== undefined) yield current;
      current = { group, groupName: name, members: new Map() };
    }
    if (member !== '') current.members.set(memberId(member), email);
  }
  if (current !== undefined) yield current;
}
