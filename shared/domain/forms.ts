import * as z from 'zod';
import type * as ids from './ids.ts';
import type { Stamp } from './stamp.ts';

/*
 * The parts of which the schemas of stored items consist. Each part is created only once, because it is slow to create
 * a schema, and a new worker needs the schemas before it can read its first group.
 */

export const text = z.string();
export const number = z.number();
export const texts = z.array(text);
/** Casts stored text to a branded type. A separate schema per brand would cost time and check nothing more. */
const textAs = <Name extends string>() => text as unknown as z.ZodType<Name, string>;
export const connectionText = textAs<ids.ConnectionName>();
export const groupText = textAs<ids.GroupId>();
export const memberText = textAs<ids.MemberId>();
export const platformGroupText = textAs<ids.PlatformGroupId>();
export const roleText = textAs<ids.RoleId>();
export const versionForm = z.union([text, number]) as unknown as z.ZodType<ids.VersionToken, string | number>;
export const intentText = textAs<ids.IntentId>();
export const stampText = textAs<Stamp>();

/** The read-only form of the type that a schema describes. */
export type Frozen<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends ReadonlyMap<infer Key, infer Item>
      ? ReadonlyMap<Key, Item>
      : { readonly [Name in keyof Value]: Frozen<Value[Name]> };
