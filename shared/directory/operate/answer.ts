import type { DirectorySetting } from '../../contract/directory-settings.ts';
import type { DirectoryQuestion } from '../../contract/invocation.ts';
import type { GroupId } from '../../domain/ids.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import {
  type Directories,
  type Directory,
  DirectoryError,
  type DirectoryMember,
  type DirectoryPage,
} from '../ports.ts';

/** The maximum number of groups or members in one answer, which keeps the answer below 6 MB, the limit of Lambda. */
const MAX_ITEMS = 15_000;

interface Asked {
  readonly question: DirectoryQuestion;
  /** The directory to query; undefined: the directory in the settings. */
  readonly setting?: DirectorySetting | undefined;
}

interface AnswerPorts {
  readonly directories: Directories;
  /** Returns true if there is no time left to read another group. */
  readonly isTimeUp: () => boolean;
}

/**
 * Answers a question that an operator's command asks about a directory. Changes nothing.
 * @returns a DirectoryReply, which contains the failure if a call of the directory fails
 */
export async function answerQuestion(
  connection: Connection,
  { question, setting = connection.settings.directory ?? undefined }: Asked,
  { directories, isTimeUp }: AnswerPorts,
): Promise<object> {
  try {
    const settings = { ...connection.settings, directory: setting ?? null };
    const directory = await directories.open({ ...connection, settings });
    if ('groups' in question) return part(await itemsOf(directory.groups()), question.groups, 'groups');
    if ('group' in question)
      return { groups: [await directory.group(question.group)].filter((one) => one !== undefined) };
    return { members: await membersOf(directory, question, isTimeUp) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

async function membersOf(
  directory: Directory,
  { membersOf: groups, from }: Extract<DirectoryQuestion, { membersOf: unknown }>,
  isTimeUp: () => boolean,
): Promise<readonly object[]> {
  const answers: object[] = [];
  let count = 0;
  for (const [index, group] of groups.entries()) {
    if (index > 0 && (isTimeUp() || count >= MAX_ITEMS)) break;
    const read = await readMembers(directory, group);
    if ('failure' in read) {
      answers.push({ group, members: [], ...read });
      continue;
    }
    // The answer leaves out groups that do not fit. The caller requests them in the next question.
    if (index > 0 && count + read.members.length > MAX_ITEMS) break;
    count += read.members.length;
    answers.push({ group, ...part(read.members, index === 0 ? from : 0, 'members') });
  }
  return answers;
}

async function readMembers(directory: Directory, group: GroupId) {
  try {
    return { members: (await itemsOf(directory.membersOf(group))).map(plainMember) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

async function itemsOf<Item>(pages: AsyncIterable<DirectoryPage<Item>>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const { items } of pages) found.push(...items);
  return found;
}

const plainMember = (member: DirectoryMember): object =>
  member.kind === 'user'
    ? { ...member, user: { ...member.user, attributes: Object.fromEntries(member.user.attributes) } }
    : member;

function part(all: readonly object[], from: number, name: 'groups' | 'members'): object {
  const next = from + MAX_ITEMS;
  return { [name]: all.slice(from, next), ...(next < all.length && { next }) };
}

function failureOf(error: unknown): object {
  if (!(error instanceof DirectoryError)) throw error;
  const { kind, message, reason } = error;
  return { kind, message, reason };
}
