import type { Attribute, Schema } from './attribute.ts';
import { COMMON_ATTRIBUTES, GROUP_SCHEMA, NESTING_GROUP_SCHEMA } from './schemas/group.ts';
import { FULL_USER, LEAN_USER, NAMED_USER } from './schemas/user.ts';

export const TYPE_NAMES = ['User', 'Group'] as const;
export type TypeName = (typeof TYPE_NAMES)[number];

/** No two resources of a type hold the same value of it. */
export const UNIQUE_ATTRIBUTE = { User: 'userName', Group: 'displayName' } as const;

/** A type of resource: its schemas, and which of their attributes are kept. */
export interface ResourceType {
  readonly name: TypeName;
  readonly endpoint: '/Users' | '/Groups';
  /** What a client may name. */
  readonly core: Schema;
  readonly extension: Schema | undefined;
  /** What is kept and shown: the same, or part of it. What is not kept is accepted and forgotten. */
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

const LEAN = user(LEAN_USER);
const FULL = user(FULL_USER);
const FLAT = group(GROUP_SCHEMA);
const NESTING = group(NESTING_GROUP_SCHEMA);

/**
 * @param storeProfile the connection's setting `scim.storeProfile`
 * @param acceptsNested whether groups may be members of groups, by the connection's setting `nested`
 */
export const resourceTypes = (storeProfile: boolean, acceptsNested = false): ResourceTypes => ({
  User: storeProfile ? FULL : LEAN,
  Group: acceptsNested ? NESTING : FLAT,
});

/** Whether groups may be members of groups. */
export const acceptsNested = ({ core }: ResourceType): boolean => core === NESTING_GROUP_SCHEMA;

/** Where an attribute is found in a resource. */
export interface Place {
  /** URN of the extension that holds it. */
  readonly extension: string | undefined;
  readonly attribute: Attribute;
  readonly sub: Attribute | undefined;
}

/** An attribute as a client names it (RFC 7644 section 3.10); the schema in lower case. */
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
 * Finds what a path names. A path without a schema may also mean an attribute of the extension, as some clients write.
 * @returns undefined for what no schema of the type knows
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

/** A path may name a schema as a whole; its last part then looks like an attribute. */
export const namesExtension = ({ schema, name, sub }: AttributePath, { extension }: ResourceType): boolean =>
  sub === undefined && `${schema}:${name}`.toLowerCase() === extension?.id.toLowerCase();

export function isKept(type: ResourceType, { extension, attribute }: Place): boolean {
  const schema = extension === undefined ? type.kept.core : type.kept.extension;
  return [...COMMON_ATTRIBUTES, ...(schema?.attributes ?? [])].some(sameName(attribute.name));
}

const NAME = /^[$a-z][\w$-]*$/i;

/**
 * Reads `[urn:…:]name[.sub]`. A URN may contain dots ("2.0"), so the last colon ends it and a dot counts after that.
 * @returns undefined for text that is no such path
 */
export function parseAttributePath(text: string): AttributePath | undefined {
  const colon = text.lastIndexOf(':');
  const schema = colon === -1 ? undefined : text.slice(0, colon).toLowerCase();
  if (schema !== undefined && !/^(?:urn|https?):./.test(schema)) return undefined;
  const [name = '', sub, ...more] = text.slice(colon + 1).split('.');
  if (!NAME.test(name) || more.length > 0 || (sub !== undefined && !NAME.test(sub))) return undefined;
  return { schema, name, sub };
}
