import * as z from 'zod';
import { connectionName, groupId, intentId, memberId, platformGroupId, roleId, versionToken } from './ids.ts';
import type { Stamp } from './stamp.ts';

/*
 * What the schemas of stored items are made of. Made once: schemas are dear to make, and a new worker makes them before
 * it can read its first group.
 */

export const text = z.string();
export const number = z.number();
export const texts = z.array(text);
export const connectionText = text.transform(connectionName);
export const groupText = text.transform(groupId);
export const memberText = text.transform(memberId);
export const platformGroupText = text.transform(platformGroupId);
export const roleText = text.transform(roleId);
export const versionText = text.transform(versionToken);
export const intentText = text.transform(intentId);
export const stampText = text.transform((value) => value as Stamp);

/** What a schema describes, as nobody may change it. */
export type Frozen<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends ReadonlyMap<infer Key, infer Item>
      ? ReadonlyMap<Key, Item>
      : { readonly [Name in keyof Value]: Frozen<Value[Name]> };
