import { nearestFirst } from '../contract/nearest.ts';
import { type ConnectionName, type GroupRef, groupId } from '../domain/ids.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { GroupSummary } from '../sync/ports/group-index.ts';
import { visible, withId } from './names.ts';

/** Thrown if no item or several items match a text. The message contains the next step. */
export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor(...lines: readonly string[]) {
    super(lines.map(visible).join('\n'));
  }
}

/** No item matches the text. The message suggests similar items, if there are any. */
export class NoMatch extends NotFound {}

/** Used in `catch`: returns undefined if no item matched, and throws any other error. */
export function undefinedIfNoMatch(error: unknown): undefined {
  if (!(error instanceof NoMatch)) throw error;
}

/** An item that can be found by an id, a name or an address. */
interface Findable<Item> {
  readonly item: Item;
  readonly names: readonly string[];
  /** The text that messages show for this item. */
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
    const shown = found.slice(0, SUGGESTED).map(({ label }) => label);
    const rest = found.length > SUGGESTED ? `, and ${found.length - SUGGESTED} more` : '';
    throw new NotFound(`"${text}" matches ${found.length} items; give the id: ${shown.join(', ')}${rest}`);
  }
  const alike = nearestFirst(text, all, ({ names }) => names).slice(0, SUGGESTED);
  const suggestion = alike.length === 0 ? '' : `; is it ${alike.map(({ label }) => label).join(', or ')}?`;
  throw new NoMatch(`${none}${suggestion}`);
}

/**
 * Returns the group that a text identifies: the id in the directory, the name (case is ignored), or a unique prefix.
 * @throws NotFound
 */
export async function findGroup(
  connection: ConnectionName,
  text: string,
  ports: Pick<ToolPorts, 'groups' | 'index'>,
  isWhole = false,
): Promise<GroupRef> {
  const byId = { connection, group: groupId(text) };
  if (text !== '' && (await ports.groups.read(byId)) !== undefined) return byId;
  const all = (await collectPages(ports.index.all(connection))).map(({ ref, name }) => {
    return { item: ref, names: [ref.group, name ?? ref.group], label: withId(name, ref.group) };
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
