import * as z from 'zod';
import { jsonValue } from '../../../contract/json.ts';
import { DAY_MS } from '../../../domain/duration.ts';
import { type DirectoryChanges, DirectoryError, type NamedMember, type ReportedChange } from '../../ports.ts';
import { type Graph, listPages } from './graph.ts';
import { selectedUser } from './members.ts';
import { Change } from './schemas.ts';

/** Links older than this are not used. A link is valid for seven days ("Use delta query", token duration). */
const LONGEST_MS = 6 * DAY_MS;
/** With this header, the answer contains only changed properties. */
const HEADERS = { prefer: 'return=minimal' };

/** The links to later changes, and the time just before the links were requested. */
const Cursor = z.object({ groups: z.string(), users: z.string(), atMs: z.number() });
type Cursor = Readonly<z.infer<typeof Cursor>>;

/** Properties whose changes Graph reports, as the value of `$select`. */
const TRACKED = {
  groups: 'displayName,members',
  users: 'accountEnabled,mail,userPrincipalName',
} as const;
type Resource = keyof typeof TRACKED;

/**
 * Returns whether a full read is needed: the directory refuses the link ("Use delta query", synchronization reset), or
 * the round does not end in time. A retry with the same link would probably fail again.
 */
const isReset = (error: unknown): boolean =>
  error instanceof DirectoryError && error.kind === 'invalid' && error.reason !== undefined;

/**
 * Reads which groups and users have changed. If nothing has changed, this function makes two calls. If the links are
 * missing, too old or refused, or a round does not end, the result is a reset with a new cursor. The new cursor also
 * covers changes during the full read that follows the reset.
 */
export async function changesSince(graph: Graph, cursor: string): Promise<DirectoryChanges> {
  const nowMs = graph.clock();
  const known = readCursor(cursor);
  if (known === undefined || nowMs - known.atMs > LONGEST_MS) return reset(graph);
  try {
    const groups = await readChanges(graph, 'groups', known.groups);
    const users = await readChanges(graph, 'users', known.users);
    return {
      groups: changesOf(groups.entries, nowMs),
      users: changesOf(users.entries, nowMs),
      cursor: textOf({ groups: groups.link, users: users.link, atMs: nowMs }),
    };
  } catch (error) {
    if (isReset(error)) return reset(graph);
    throw error;
  }
}

const reset = async (graph: Graph): Promise<DirectoryChanges> => ({
  groups: [],
  users: [],
  cursor: await cursorNow(graph),
  isReset: true,
});

export async function cursorNow(graph: Graph): Promise<string> {
  const atMs = graph.clock();
  const linkOf = async (resource: Resource) => {
    const tracked = TRACKED[resource];
    const properties = resource === 'users' ? selectedUser(graph.attributes, tracked) : tracked;
    const query = { $select: properties, $deltatoken: 'latest' };
    return (await readChanges(graph, resource, graph.url([resource, 'delta'], query))).link;
  };
  return textOf({ groups: await linkOf('groups'), users: await linkOf('users'), atMs });
}

const textOf = (cursor: Cursor): string => JSON.stringify(cursor);

/** Returns undefined for a cursor of another vendor, from the time before the connection changed its directory. */
const readCursor = (text: string): Cursor | undefined => Cursor.safeParse(jsonValue(text)).data;

type Entry = z.infer<typeof Change>;

/** Reads a round of changes. The round ends at the page that has the link to later changes. */
async function readChanges(graph: Graph, resource: Resource, url: string) {
  const operation = `${resource}.delta`;
  const entries: Entry[] = [];
  let link: string | undefined;
  const listing = { operation, url: graph.ownLink(operation, url), item: Change, headers: HEADERS };
  for await (const { items, deltaLink } of listPages(graph, listing)) {
    entries.push(...items);
    link = deltaLink;
  }
  if (link !== undefined) return { entries, link };
  throw new DirectoryError('invalid', `${operation}: expected a link to the next page or to later changes`);
}

/** Combines all entries of an object into one change. The order of the entries does not matter. */
function changesOf(entries: readonly Entry[], nowMs: number): readonly ReportedChange[] {
  const byKey = new Map<string, ReportedChange>();
  for (const entry of entries) {
    const { id: key, '@removed': removed, displayName } = entry;
    const before = byKey.get(key);
    const isDeletion = before?.isDeletion === true || removed !== undefined;
    const isFinal = before?.isFinal === true || removed?.reason === 'deleted';
    const isMembership = before?.isMembership !== false && displayName === undefined;
    const members = [...(before?.members ?? []), ...membersIn(entry, nowMs)];
    byKey.set(key, { key, atMs: nowMs, isDeletion, isMembership, members, ...(isFinal && { isFinal }) });
  }
  return [...byKey.values()];
}

const USER = '#microsoft.graph.user';
const GROUP = '#microsoft.graph.group';

/** Returns the changed members that are users or groups. Devices and service principals are left out. */
const membersIn = ({ 'members@delta': members = [] }: Entry, atMs: number): readonly NamedMember[] =>
  members.flatMap(({ id: key, '@odata.type': type, '@removed': removed }) => {
    const named = { key, atMs, isMember: removed === undefined };
    if (type === GROUP) return [{ ...named, isGroup: true }];
    return type === USER ? [named] : [];
  });
