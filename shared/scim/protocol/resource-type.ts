import type { Attribute, Schema } from './attribute.ts';
import { COMMON_ATTRIBUTES, GROUP_SCHEMA, NESTING_GROUP_SCHEMA } from './schemas/group.ts';
import { FULL_USER, leanUser, NAMED_USER } from './schemas/user.ts';

export type TypeName = 'User' | 'Group';

/** The attribute whose value is unique among the resources of a type. */
export const UNIQUE_ATTRIBUTE = { User: 'userName', Group: 'displayName' } as const;

export interface ResourceType {
  readonly name: TypeName;
  readonly endpoint: '/Users' | '/Groups';
  readonly core: Schema;
  readonly extension: Schema | undefined;
  /** Attributes that are stored and shown. Other attributes of the schemas are accepted and ignored. */
  readonly kept: { readonly core: Schema; readonly extension: Schema | undefined };
}

const group = (core: Schema): ResourceType => ({
  name: 'Group',
  endpoint: '/Groups',
  core,
  extension: undefined,
  kept: { core, extension: undefined },
});

const user = ([core, extension]: readonly [Schema, Schema]): ResourceType => ({
  name: 'User',
  endpoint: '/Users',
  core: NAMED_USER,
  extension: FULL_USER[1],
  kept: { core, extension },
});

export type ResourceTypes = Readonly<Record<TypeName, ResourceType>>;

const FULL = user(FULL_USER);
const FLAT = group(GROUP_SCHEMA);
const NESTING = group(NESTING_GROUP_SCHEMA);

/**
 * @param storeProfile the connection's setting `scim.storeProfile`
 * @param named the attributes that the connection's setting `people.exclude` names
 * @param acceptsNested whether groups can be members of groups, from the connection's setting `nested`
 */
export const resourceTypes = (
  storeProfile: boolean,
  acceptsNested = false,
  named: readonly string[] = [],
): ResourceTypes => ({
  User: storeProfile ? FULL : user(leanUser(named)),
  Group: acceptsNested ? NESTING : FLAT,
});

export const acceptsNested = ({ core }: ResourceType): boolean => core === NESTING_GROUP_SCHEMA;

export interface Place {
  readonly extension: string | undefined;
  readonly attribute: Attribute;
  readonly sub: Attribute | undefined;
}

/** An attribute path from a client (RFC 7644 section 3.10), with the schema in lower case. */
export interface AttributePath {
  readonly schema: string | undefined;
  readonly name: string;
  readonly sub: string | undefined;
}

const sameName = (name: string) => {
  const folded = name.toLowerCase();
  return (candidate: { readonly name: string }) => candidate.name.toLowerCase() === folded;
};

/**
 * Finds the attribute of a path. A path without a schema can also name an attribute of the extension.
 * @returns undefined for an attribute that no schema of the type has
 */
export function placeOf(type: ResourceType, path: AttributePath): Place | undefined {
  const { schema, name, sub } = path;
  const inCore = schema === undefined || schema === type.core.id.toLowerCase();
  const inExtension = schema === undefined || schema === type.extension?.id.toLowerCase();
  const fromCore = inCore ? [...COMMON_ATTRIBUTES, ...type.core.attributes].find(sameName(name)) : undefined;
  const fromExtension = inExtension ? type.extension?.attributes.find(sameName(name)) : undefined;
  const attribute = fromCore ?? fromExtension;
  if (attribute === undefined) return undefined;
  const extension = fromCore === undefined ? type.extension?.id : undefined;
  if (sub === undefined) return { extension, attribute, sub: undefined };
  const found = attribute.subAttributes?.find(sameName(sub));
  return found === undefined ? undefined : { extension, attribute, sub: found };
}

/**
 * Returns whether a path is the URN of the extension itself. The parser takes the last part of a URN for an attribute.
 */
export const namesExtension = ({ schema, name, sub }: AttributePath, { extension }: ResourceType): boolean =>
  sub === undefined && `${schema}:${name}`.toLowerCase() === extension?.id.toLowerCase();

export function isKept(type: ResourceType, { extension, attribute }: Place): boolean {
  const schema = extension === undefined ? type.kept.core : type.kept.extension;
  return [...COMMON_ATTRIBUTES, ...(schema?.attributes ?? [])].some(sameName(attribute.name));
}

const NAME = /^[$a-z][\w$-]*$/i;

/**
 * Parses `[schema:]name[.sub]`. The schema is a URN or a URL and can contain dots, so the name starts after the last
 * colon.
 * @returns undefined for any other text
 */
export function parseAttributePath(text: string): AttributePath | undefined {
  const colon = text.lastIndexOf(':');
  const schema = colon === -1 ? undefined : text.slice(0, colon).toLowerCase();
  if (schema !== undefined && !/^(?:urn|https?):./.test(schema)) return undefined;
  const [name = '', sub, ...more] = text.slice(colon + 1).split('.');
  if (!NAME.test(name) || more.length > 0 || (sub !== undefined && !NAME.test(sub))) return undefined;
  return { schema, name, sub };
}
