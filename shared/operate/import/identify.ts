import type { LineError } from '../../contract/answers/files.ts';
import type { KnownGroup, KnownNames } from '../../directory/operate/import.ts';
import type { Layout } from './columns.ts';
import { isAddress, type ReadRow } from './rows.ts';

/** What the file lists for each group: all members, the members to add, or the members to remove. */
export type FileKind = 'snapshot' | 'add' | 'remove';

interface Identifying {
  readonly directory: KnownNames;
  readonly given: KnownGroup | undefined;
  readonly kind: FileKind;
}

/** A line that the import leaves out, because its address belongs to several members. */
export interface RefusedLine {
  readonly refused: LineError;
  /** Rows of the members that are in the group now. They stay in the group. */
  readonly kept: readonly ReadRow[];
}

export const OTHER_GROUP = 'other group';

export async function identify(
  row: ReadRow,
  layout: Layout,
  { directory, given, kind }: Identifying,
): Promise<ReadRow | LineError | RefusedLine | typeof OTHER_GROUP> {
  const own = layout.group === undefined ? undefined : await groupOf(row, layout, { directory, kind });
  if (own !== undefined && 'message' in own) return own;
  const group = own ?? given;
  if (group === undefined) throw new Error('expected --group for a file without groups');
  if (given !== undefined && group.id !== given.id) return OTHER_GROUP;
  if (kind !== 'snapshot' && group.isKnown === false) return unknownGroup(row.line, group.id);
  const named = { ...row, group: group.id, name: group.name };
  return layout.member.isId || !isAddress(row.member) ? named : withMemberId(named, directory);
}

/** Replaces the address in a row by the id of the member who has it. Without such a member, the row is not changed. */
async function withMemberId(row: ReadRow, directory: KnownNames): Promise<ReadRow | RefusedLine> {
  const addresses = new Set([row.member, row.email].filter(isAddress));
  let member: Awaited<ReturnType<KnownNames['memberOf']>>;
  for (const address of addresses) member ??= await directory.memberOf(row.group, address);
  if (member === undefined) return row;
  if (typeof member !== 'string') {
    const kept = member.present.map((one) => ({ ...row, member: one, email: '' }));
    return { refused: refusal(row.line, 'an address of one member', row.member, member.ids), kept };
  }
  // The address was used only to find the member, so the import must not change the stored address. But if the address
  // is the member's id, the row keeps the address.
  return { ...row, member, email: member === row.member ? row.email : '' };
}

async function groupOf(
  { line, group, name }: ReadRow,
  { group: columns }: Layout,
  { directory, kind }: Omit<Identifying, 'given'>,
): Promise<KnownGroup | LineError> {
  const isId = columns?.isId === true;
  if (isId && name !== '' && kind === 'snapshot') return { id: group, name };
  const found = await directory.groupOf(group);
  if ('ids' in found)
    return isId ? { id: group, name: group } : refusal(line, 'a name of one group', group, found.ids);
  const hasName = columns?.name !== undefined && columns.name !== columns.at;
  const chosen = isId && found.id !== group ? withExactId(found, group) : found;
  return hasName ? { ...chosen, name } : chosen;
}

/** Returns a group with exactly this id. A group with this text as its name does not count. */
const withExactId = ({ isKnown }: KnownGroup, id: string): KnownGroup => ({
  id,
  name: id,
  ...(isKnown !== undefined && { isKnown: false }),
});

const unknownGroup = (line: number, group: string): LineError => ({
  line,
  message: `expected a group that the directory has named, got "${group}": additions and removals cannot create a group`,
});

const refusal = (line: number, what: string, got: string, ids: readonly string[]): LineError => ({
  line,
  message: `expected ${what}, got "${got}", which matches ${ids.join(', ')}; put the id into the file`,
});
