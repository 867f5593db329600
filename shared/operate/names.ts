import { nearestFirst } from '../contract/nearest.ts';
import type { StoredMember } from '../domain/group-state.ts';
import { type ConnectionName, type GroupRef, groupId, memberId } from '../domain/ids.ts';
import type { Register } from '../domain/register.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { UserState } from '../sync/ports/desired.ts';
import type { GroupSummary } from '../sync/ports/group-index.ts';
import { ANSWER_PREFIX, isJson, withoutCutJson } from '../sync/ports/platform.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';

/** Formats ids with names: `Ada Archer <ada@acme.test> (00u7)`. An id without a known name is printed alone. */
export interface Names {
  readonly group: (id: string) => string;
  readonly member: (id: string) => string;
  /** Formats a user of a platform group as the member who is bound to this user. */
  readonly user: (id: string) => string;
}

const itself = (id: string): string => id;
export const NO_NAMES: Names = { group: itself, member: itself, user: itself };

export type NamesPorts = Pick<ToolPorts, 'groups' | 'users' | 'people'>;

export interface Named {
  readonly groups?: readonly string[];
  readonly members?: readonly string[];
  readonly usersOf?: readonly string[];
}

type Attributes = ReadonlyMap<string, Pick<Register<string>, 'value'>>;

/** Returns `Ada Archer <ada@acme.test>`, or the known part of it; undefined if no part is known. */
export function formatPerson(attributes: Attributes): string | undefined {
  const of = (name: string) => attributes.get(name)?.value || undefined;
  const name = of('name') ?? of('displayName');
  const address = of('email') ?? of('userName');
  return name !== undefined && address !== undefined ? `${name} <${address}>` : (name ?? address);
}

export const plural = (count: number, noun: string, several = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : several}`;

export function listed(texts: readonly string[], most: number): string {
  const rest = texts.length > most ? `, and ${texts.length - most} more` : '';
  return `${texts.slice(0, most).join(', ')}${rest}`;
}

/** Escapes characters that would move the cursor or change the direction of the text. */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Returns a name and an id in one line. Line breaks in a name are escaped, because the second line of a name could look
 * like other output.
 */
export const withId = (label: string | undefined, id: string): string =>
  visible(label === undefined || label === id ? id : `${label} (${id})`);

/** Quotes a text as one shell word. If the text has invisible characters, it is written as `$'…'` for bash and zsh. */
export function shellWord(text: string): string {
  if (visible(text) !== text) return `$'${visible(text.replace(/[\\']/g, '\\$&'))}'`;
  return /^(?!=)[\w.,:=/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Formats the last words of a command. If a word begins with `-`, the result begins with `--`. Otherwise the command
 * would read the word as an option.
 */
export const shellWords = (...words: readonly string[]): string =>
  [...(words.some((word) => /^-./s.test(word)) ? ['--'] : []), ...words.map(shellWord)].join(' ');

/** Returns the registers of all present and earlier members of the directory group, by platform user and by role. */
export async function usersOf(ref: GroupRef, ports: NamesPorts) {
  const registers = await ports.groups.members(ref);
  const members = registers.map(({ member }) => member);
  const known = await ports.users.read(ref.connection, members);
  const bindings = registers.flatMap((register) => {
    const { role, userId } = known.get(register.member) ?? register.user ?? {};
    return role === undefined ? [] : [{ role, userId, register }];
  });
  const roles = bindings.map(({ role }) => role);
  const people = await ports.people.read(ref.connection, roles);
  const boundTo = new Map<string, StoredMember>();
  for (const { role, userId, register } of bindings) {
    for (const id of [role, userId, people.get(role)?.userId])
      if (id !== undefined) boundTo.set(id, register);
  }
  return { boundTo, known };
}

export async function readNames(connection: ConnectionName, named: Named, ports: NamesPorts): Promise<Names> {
  const refsOf = (ids: readonly string[] = []): readonly GroupRef[] =>
    [...new Set(ids)].map((id) => ({ connection, group: groupId(id) }));
  const [states, members, bound] = await Promise.all([
    ports.groups.readMany(refsOf(named.groups), () => {}),
    ports.users.read(connection, [...new Set(named.members?.map(memberId))]),
    mapConcurrently(READS_IN_FLIGHT, refsOf(named.usersOf), (ref) => usersOf(ref, ports)),
  ]);
  const nameOf = new Map(states.map(({ ref, registers }) => [String(ref.group), registers.name?.value]));
  const person = (user: UserState | undefined) => user && formatPerson(user.attributes);
  return {
    group: (id) => withId(nameOf.get(id), id),
    member: (id) => withId(person(members.get(memberId(id))), id),
    user(id) {
      const found = bound.find(({ boundTo }) => boundTo.has(id));
      const member = found?.boundTo.get(id)?.member;
      return withId(member && person(found?.known.get(member)), id);
    },
  };
}

/** Thrown if no item or several items match a text. The message contains the next step. */
export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor(...lines: readonly string[]) {
    super(lines.map(visible).join('\n'));
  }
}

/** Thrown if this caller must not perform the action, although another person may. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** No item matches the text. The message suggests similar items, if there are any. */
export class NoMatch extends NotFound {}

/** Used in `catch`: returns undefined if no item matched, and throws any other error. */
export function undefinedIfNoMatch(error: unknown): undefined {
  if (!(error instanceof NoMatch)) throw error;
}

interface Findable<Item> {
  readonly item: Item;
  readonly names: readonly string[];
  readonly label: string;
}

const SUGGESTED = 3;

/**
 * Returns the item that a text identifies. The function tries an exact match first, then a match without case, then a
 * unique prefix.
 * @param none the message if no item matches; the function adds similar items to it
 * @param isWhole true if prefixes are not allowed
 * @throws NotFound
 */
export function findOne<Item>(text: string, all: readonly Findable<Item>[], none: string, isWhole = false) {
  const low = text.toLowerCase();
  const ways: readonly ((name: string) => boolean)[] = [
    (name) => name === text,
    (name) => name.toLowerCase() === low,
    (name) => text !== '' && !isWhole && name.toLowerCase().startsWith(low),
  ];
  for (const fits of ways) {
    const found = all.filter(({ names }) => names.some(fits));
    const [only, ...others] = found;
    if (only === undefined) continue;
    if (others.length === 0) return only.item;
    const labels = found.map(({ label }) => label);
    throw new NotFound(`"${text}" matches ${found.length} items; give the id: ${listed(labels, SUGGESTED)}`);
  }
  const near = nearestFirst(text, all, ({ names }) => [...names, ...names.join(' ').split(' ')]);
  const alike = near.slice(0, SUGGESTED).map(({ label }) => label);
  throw new NoMatch(`${none}${alike.length === 0 ? '' : `; is it ${alike.join(', or ')}?`}`);
}

/**
 * Returns the group that a text identifies: the id in the directory, the name (case is ignored), or a unique prefix.
 * @param namesThen returns the names of renamed groups at an earlier time, which identify them too
 * @throws NotFound
 */
export async function findGroup(
  connection: ConnectionName,
  text: string,
  ports: Pick<ToolPorts, 'groups' | 'index'>,
  isWhole = false,
  namesThen: () => Promise<ReadonlyMap<string, string>> = async () => new Map(),
): Promise<GroupRef> {
  const byId = { connection, group: groupId(text) };
  if (text !== '' && (await ports.groups.read(byId)) !== undefined) return byId;
  const then = await namesThen();
  const all = (await collectPages(ports.index.all(connection))).map(({ ref, name }) => {
    const names = [ref.group, name ?? ref.group, then.get(ref.group) ?? ref.group];
    return { item: ref, names, label: withId(name, ref.group) };
  });
  return findOne(text, all, `no group of connection ${connection} has the id or the name "${text}"`, isWhole);
}

export async function allGroups(
  connection: ConnectionName,
  { index }: Pick<ToolPorts, 'index'>,
  only: (group: GroupSummary) => boolean = () => true,
): Promise<readonly GroupRef[]> {
  const refs = (await collectPages(index.all(connection))).filter(only).map(({ ref }) => ref);
  return refs.sort((a, b) => (a.group < b.group ? -1 : 1));
}

/** The maximum length of a shown reason, which may contain a response of the platform. `--json` is not shortened. */
const REASON_SHOWN = 160;

/** Returns the text with at most this many characters. A JSON response of the platform is left out, not cut. */
export function shortened(text: string): string {
  if (text.length <= REASON_SHOWN) return withoutCutJson(text);
  const [ours = '', answer = ''] = text.split(ANSWER_PREFIX, 2);
  const shown = isJson(answer) ? ours : text;
  return shown.length <= REASON_SHOWN ? shown : `${shown.slice(0, REASON_SHOWN - 1)}…`;
}
