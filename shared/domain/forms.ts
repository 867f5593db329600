import * as z from 'zod';
import type * as ids from './ids.ts';
import type { Stamp } from './stamp.ts';

/*
 * The building blocks of the schemas of stored items. Each of them is created only once, because creating a schema is
 * slow and delays the first read of a new worker.
 */

export const text = z.string();
export const number = z.number();
export const texts = z.array(text);
/** Casts stored text to a branded type. A schema for each brand would cost time and check nothing more. */
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
