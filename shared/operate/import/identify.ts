import type { LineError } from '../../contract/answers.ts';
import type { Layout } from './columns.ts';
import type { Directory, NamedGroup } from './directory.ts';
import { isAddress, type ReadRow } from './rows.ts';

/** What a file is: all members of its groups, or people to add or to remove. */
export type FileKind = 'snapshot' | 'add' | 'remove';

interface Identifying {
  readonly directory: Directory;
  /** The group that `--group` names: of a file with several groups, it alone is read. */
  readonly given: NamedGroup | undefined;
  readonly kind: FileKind;
}

/** A row of another group than the one that `--group` names. */
export const OTHER_GROUP = 'other group';

/** A row with the ids of its group and member, where the file has their names or addresses. */
export async function identify(
  row: ReadRow,
  layout: Layout,
  { directory, given, kind }: Identifying,
): Promise<ReadRow | LineError | typeof OTHER_GROUP> {
  const own = layout.group === undefined ? undefined : await groupOf(row, layout, { directory, kind });
  if (own !== undefined && 'message' in own) return own;
  const group = own ?? given;
  if (group === undefined) throw new Error('expected --group for a file without groups');
  if (given !== undefined && group.id !== given.id) return OTHER_GROUP;
  if (kind !== 'snapshot' && group.isKnown === false) return unknownGroup(row.line, group.id);
  const named = { ...row, group: group.id, name: group.name };
  if (layout.member.isId || !isAddress(row.member)) return named;
  const addresses = new Set([row.member, row.email].filter(isAddress));
  let member: Awaited<ReturnType<Directory['memberOf']>>;
  for (const address of addresses) member ??= await directory.memberOf(group.id, address);
  // What is known of a member stays: the file has no more than the address by which they were found.
  if (typeof member === 'string') return { ...named, member, email: member === row.member ? row.email : '' };
  return member === undefined ? named : refusal(row.line, 'an address of one member', row.member, member.ids);
}

async function groupOf(
  { line, group, name }: ReadRow,
  { group: columns }: Layout,
  { directory, kind }: Omit<Identifying, 'given'>,
): Promise<NamedGroup | LineError> {
  const isId = columns?.isId === true;
  if (isId && name !== '' && kind === 'snapshot') return { id: group, name };
  const found = await directory.groupOf(group);
  if ('ids' in found)
    return isId ? { id: group, name: group } : refusal(line, 'a name of one group', group, found.ids);
  const hasName = columns?.name !== undefined && columns.name !== columns.at;
  const isOther = isId && found.id !== group;
  return {
    id: isId ? group : found.id,
    name: hasName ? name : isOther ? group : found.name,
    ...(found.isKnown !== undefined && { isKnown: found.isKnown && !isOther }),
  };
}

const unknownGroup = (line: number, group: string): LineError => ({
  line,
  message: `expected a group that the directory has named, got "${group}": a list of changes creates no group`,
});

const refusal = (line: number, what: string, got: string, ids: readonly string[]): LineError => ({
  line,
  message: `expected ${what}, got "${got}", which is of ${ids.join(', ')}; put the id into the file`,
});
