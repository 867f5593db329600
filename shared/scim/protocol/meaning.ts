import { conjuncts, type Filter, type Literal } from './filter/evaluate.ts';
import { parseFilter } from './filter/parse.ts';
import type { QueryParameters } from './list-query.ts';
import { type MemberOperation, readMemberIds, splitGroupPatch, splitMembers } from './patch/members.ts';
import { type PatchOperation, readPatch } from './patch/operation.ts';
import { type AttributePath, resourceTypes } from './resource-type.ts';
import { elements, fieldOf, isObject, type ScimObject, type ScimValue } from './value.ts';

export interface RequestContent {
  readonly method: string;
  /** The path below the base URL, not decoded: `/Users/2819c223`. */
  readonly path: string;
  readonly query: QueryParameters;
  /** undefined if there is no body, or if it cannot be read. */
  readonly body: ScimValue | undefined;
}

/** Words with a number, or without one. */
type Part = readonly [words: string, count?: number];

/** What a request asks for, in words and ids. It contains no value except that of `filter`. */
export interface Meaning {
  readonly endpoint: string;
  readonly parts: readonly Part[];
  readonly groups: readonly string[];
  readonly members: readonly string[];
  /** The first comparison of the filter of a search. */
  readonly filter?:
    | { readonly attribute: string; readonly operator: string; readonly value: Literal }
    | undefined;
}

const NOUNS: Readonly<Record<string, 'user' | 'group' | undefined>> = { Users: 'user', Groups: 'group' };
const ENDPOINTS = ['Me', 'ServiceProviderConfig', 'ResourceTypes', 'Schemas'];
const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'replace', DELETE: 'delete' };
/** Groups as members are read too, even if the server refuses them. */
const { Group } = resourceTypes(false, true);

/** Returns the meaning of a request. A request that the server cannot read keeps what its method and path mean. */
export function requestMeaning(request: RequestContent): Meaning {
  const [first = '', segment] = request.path.split('/').filter((one) => one !== '');
  const noun = NOUNS[first];
  const endpoint = noun === undefined ? (ENDPOINTS.find((one) => one === first) ?? 'other') : first;
  if (noun === undefined) return { endpoint, parts: [], groups: [], members: [] };
  const ids = segment === undefined ? [] : [decoded(segment)];
  const { parts, members, filter } =
    request.method === 'GET' ? searchOf(request, noun, ids) : contentOf(request, noun);
  const own = noun === 'group' ? { groups: ids, members } : { groups: [], members: [...ids, ...members] };
  return { endpoint, parts, ...own, filter };
}

function searchOf({ query }: RequestContent, noun: string, ids: readonly string[]): Content {
  const filter = filterOf(fieldOf(query, 'filter'));
  return { parts: [[`${ids.length === 0 ? 'find' : 'read'} ${noun}`]], members: [], filter };
}

/** Returns a segment of a path as text. A segment that is not encoded correctly stays as it is. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

type Content = Pick<Meaning, 'parts' | 'members' | 'filter'>;

function contentOf(request: RequestContent, noun: 'user' | 'group'): Content {
  const verb = VERBS[request.method];
  const parts: readonly Part[] = verb === undefined ? [] : [[`${verb} ${noun}`]];
  try {
    const content = noun === 'user' ? userContent(request) : groupContent(request);
    return { ...content, parts: [...parts, ...content.parts] };
  } catch {
    return { parts: verb === undefined ? [[`change ${noun}`]] : parts, members: [] };
  }
}

function userContent({ method, body = {} }: RequestContent): Content {
  const written = method === 'PATCH' ? readPatch(body).map(valuesOf) : elements(body).filter(isObject);
  const active = written.map((values) => fieldOf(values, 'active')).findLast((value) => value !== undefined);
  const account = /^false$/i.test(String(active)) ? 'account off' : 'account on';
  const others =
    method === 'PATCH' ? written.flatMap(Object.keys).filter((name) => !/^active$/i.test(name)) : [];
  return { parts: [...(active === undefined ? [] : [[account] as const]), ...changed(others)], members: [] };
}

function groupContent({ method, body = {} }: RequestContent): Content {
  if (method !== 'PATCH') {
    const { members } = splitMembers(isObject(body) ? body : {}, Group);
    const ids = members === undefined ? [] : readMemberIds(members, Group, false);
    return { parts: members === undefined ? [] : [['all members:', ids.length]], members: ids };
  }
  const { members, attributes } = splitGroupPatch(readPatch(body), Group);
  return {
    parts: [...members.map(partOf), ...changed(attributes.flatMap((one) => Object.keys(valuesOf(one))))],
    members: members.flatMap((one) => ('ids' in one && one.ids) || []),
  };
}

function partOf(operation: MemberOperation): Part {
  if (operation.kind === 'clear') return ['remove all members'];
  if (operation.kind === 'removeWhere' || operation.kind === 'replaceWhere')
    return ['change members by filter'];
  return [operation.kind === 'replace' ? 'all members:' : operation.kind, operation.ids.length];
}

function valuesOf({ path, value = null }: PatchOperation): ScimObject {
  if (path !== undefined) return { [nameOf(path.path)]: value };
  return isObject(value) ? value : {};
}

const nameOf = ({ name, sub }: AttributePath): string => (sub === undefined ? name : `${name}.${sub}`);

const MAX_NAMES = 5;
const MAX_NAME_LENGTH = 60;

function changed(names: readonly string[]): readonly Part[] {
  const shown = [...new Set(names)].slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
  return shown.length === 0 ? [] : [[`change ${shown.join(' and ')}`]];
}

function filterOf(text: ScimValue | undefined): Meaning['filter'] {
  try {
    return typeof text === 'string' ? comparisonIn(parseFilter(text)) : undefined;
  } catch {
    return undefined;
  }
}

function comparisonIn(filter: Filter): Meaning['filter'] {
  const [first] = conjuncts(filter);
  if (first?.kind === 'element') {
    const within = comparisonIn(first.where);
    return within && { ...within, attribute: `${nameOf(first.path)}.${within.attribute}` };
  }
  return first?.kind === 'compare' ? { ...first, attribute: nameOf(first.path) } : undefined;
}
