import { isAbout, type StateColumn, type StateRule, stateColumns } from './account-state.ts';
import { attributeOf, type FileColumn, type Heading, plainHeading, readHeading } from './headings.ts';

/** The columns of a file, each by the index of its field (from 0). `isId` says whether a column contains ids. */
export interface Layout {
  readonly fields: number;
  /** True if the first record is a header. Otherwise it is a row. */
  readonly hasHeader: boolean;
  readonly ignored: readonly string[];
  /** Undefined if all rows are about the group that `--group` names. */
  readonly group: GroupColumns | undefined;
  readonly member: MemberColumns;
  readonly states: readonly StateColumn[];
  readonly attributes: readonly { readonly name: string; readonly at: number }[];
}

interface GroupColumns {
  readonly at: number;
  /** True if the column certainly contains the directory's ids. Otherwise it may contain ids or names. */
  readonly isId: boolean;
  readonly name: number | undefined;
}

interface MemberColumns {
  readonly at: number;
  /** True if the column certainly contains the directory's ids. Otherwise it may contain an address. */
  readonly isId: boolean;
  /** True if some files have ids under this heading, and other files have names of people. */
  readonly mayBeName: boolean;
  readonly email: number | undefined;
  /** A user name. In most directories it is an address. */
  readonly login: number | undefined;
  /** The field that shows whether the row is about a person, or about a group within the group. */
  readonly type: number | undefined;
}

/** Headings from `--columns`, for columns with unusual headings. */
export type Headings = ReadonlyMap<FileColumn, string>;

export const COLUMN_KEYS: ReadonlyMap<string, FileColumn> = new Map([
  ['group', 'group id'],
  ['name', 'group name'],
  ['member', 'member id'],
  ['email', 'email'],
]);

/** The reason why the columns cannot be found from these headings. */
export interface NoLayout {
  readonly problem: string;
}

export interface HeaderOptions {
  readonly headings?: Headings | undefined;
  /** Decisions about the states of accounts; null if the file lists people to remove, whatever their state. */
  readonly stateRules: readonly StateRule[] | null;
  /** True if `--group` names the group of every row. */
  readonly hasGroup: boolean;
  readonly attributes: readonly string[];
}

export function layoutOf(
  fields: readonly string[],
  { headings, hasGroup, stateRules, attributes: named }: HeaderOptions,
): Layout | NoLayout {
  const given = givenPlaces(fields, headings ?? new Map());
  if ('problem' in given) return given;
  const headingsLeft = fields.map((field, at) =>
    [...given.values()].includes(at) ? undefined : readHeading(field),
  );
  const find = (column: FileColumn, rank?: number) => place(headingsLeft, column, rank);
  const clash = clashIn(headingsLeft, given);
  if (clash !== undefined)
    return { problem: `expected one column ${clash}${whichOf(clash)}, got more than one: ${shown(fields)}` };
  const group = groupColumns(find, given);
  const member = memberColumns(find, given, group);
  const missing = missingColumns({ group, member, hasGroup });
  const isAmbiguous = member?.isBare === true && group !== undefined && group.at === group.name;
  if (isAmbiguous)
    return { problem: `the column "id" may be of the group or of the member: ${HOW}, got ${shown(fields)}` };
  if (missing !== undefined) return { problem: `${missing}, got ${shown(fields)}` };
  if (member === undefined) return { problem: `expected a column member id, got ${shown(fields)}` };
  const { isBare: _, ...columns } = member;
  const own = [group?.at, group?.name, columns.at, columns.email, columns.login, columns.type];
  const free = fields.map((field, at) => (own.includes(at) ? '' : field));
  const states = stateRules === null ? [] : stateColumns(free, stateRules);
  const unused = stateRules?.find((rule) => !free.some((field) => isAbout(rule, field)));
  if (unused !== undefined)
    return {
      problem: `--column-state: expected a heading of the file and a value, as in 'Status:On leave=active', got "${unused.text}" and ${shown(fields)}`,
    };
  const attributes = free.flatMap((field, at) => {
    const name = attributeOf(field, named);
    return name === undefined ? [] : [{ name, at }];
  });
  const read = [...own, ...[...states, ...attributes].map(({ at }) => at)];
  const ignored = fields.filter((field, at) => !read.includes(at) && field.trim() !== '');
  return {
    fields: fields.length,
    hasHeader: true,
    ignored: ignored.map((field) => field.trim()),
    group,
    member: columns,
    states,
    attributes,
  };
}

const HOW = "--columns 'group=HEADING,member=HEADING' names the columns";

function whichOf(column: FileColumn): string {
  const [key] = [...COLUMN_KEYS].find(([, one]) => one === column) ?? [];
  return key === undefined ? '' : ` (--columns '${key}=HEADING' says which)`;
}

type Find = (column: FileColumn, rank?: number) => number | undefined;
type Given = ReadonlyMap<FileColumn, number>;

function givenPlaces(fields: readonly string[], headings: Headings): Given | NoLayout {
  const plain = fields.map(plainHeading);
  const given = new Map<FileColumn, number>();
  for (const [column, heading] of headings) {
    const exact = fields.findIndex((field) => field.trim() === heading.trim());
    const at = exact < 0 ? plain.indexOf(plainHeading(heading)) : exact;
    if (at < 0) return { problem: `expected a column "${heading}", got ${shown(fields)}` };
    given.set(column, at);
  }
  return given;
}

/** Returns the index of the first heading of a column with this rank. Without a rank, the lowest rank counts. */
function place(free: readonly (Heading | undefined)[], column: FileColumn, rank?: number) {
  const ranks = free.map((heading) => (heading?.column === column ? heading.rank : Number.POSITIVE_INFINITY));
  const best = rank ?? Math.min(...ranks);
  const at = Number.isFinite(best) ? ranks.indexOf(best) : -1;
  return at < 0 ? undefined : at;
}

/** Returns the first column for which several headings have the lowest rank. */
function clashIn(free: readonly (Heading | undefined)[], given: Given): FileColumn | undefined {
  return free.find((heading) => {
    if (heading === undefined || given.has(heading.column)) return false;
    const ranks = free.flatMap((other) => (other?.column === heading.column ? [other.rank] : []));
    const lowest = Math.min(...ranks);
    return ranks.filter((rank) => rank === lowest).length > 1;
  })?.column;
}

function groupColumns(find: Find, given: Given): GroupColumns | undefined {
  const id = given.get('group id') ?? find('group id');
  const alone = find('group');
  const name = given.get('group name') ?? find('group name');
  const isId = !given.has('group id') && id !== undefined && id === find('group id', 0);
  if (id !== undefined) return { at: id, isId, name: name ?? alone };
  if (alone !== undefined) return { at: alone, isId: false, name };
  return name === undefined ? undefined : { at: name, isId: false, name };
}

function memberColumns(find: Find, given: Given, group: GroupColumns | undefined) {
  const login = find('login');
  const email = given.get('email') ?? find('email');
  const id = given.get('member id') ?? find('member id', 0) ?? find('member id', 1);
  const bare = find('id');
  const unclear = find('member id', 2);
  const at = id ?? bare ?? login ?? email ?? unclear;
  if (at === undefined || at === group?.at) return undefined;
  const isId =
    !given.has('member id') && at === (find('member id', 0) ?? (id === undefined ? bare : undefined));
  const isBare = bare !== undefined && !given.has('member id') && !given.has('group id');
  return { at, isId, mayBeName: at === unclear, email, login, type: find('type'), isBare };
}

function missingColumns(found: {
  readonly group: GroupColumns | undefined;
  readonly member: object | undefined;
  readonly hasGroup: boolean;
}): string | undefined {
  const noGroup = found.group === undefined && !found.hasGroup;
  if (noGroup && found.member === undefined)
    return `expected a header with the columns group id, group name, member id, email in any order (${HOW}), or a row of these four`;
  if (noGroup)
    return `expected a column group id or group name in the header (--group NAME, if all rows are of one group; ${HOW})`;
  return found.member === undefined
    ? `expected a column member id or email in the header (${HOW})`
    : undefined;
}

const MAX_SHOWN = 200;

export function shown(fields: readonly string[]): string {
  const listed = fields.map((field) => JSON.stringify(field)).join(', ');
  return `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}: ${listed.slice(0, MAX_SHOWN)}`;
}
