import type { EventActor } from './event.ts';
import { hexOfUtf8, type Stamp } from './stamp.ts';

/** A value with the stamp of the event that set it. The later stamp wins, in whatever order the events arrive. */
export interface Register<Value extends string> {
  readonly value: Value;
  readonly stamp: Stamp;
  /** The actor of the event, if known. No decision uses it. */
  readonly actor?: EventActor;
}

/** Whether a member is in a group. `absent` sorts first, so the tie rule below lets it win. */
export type Presence = 'absent' | 'present';

/**
 * Whether `candidate` takes the place of `current`. Equal stamps with different values come only from a producer that
 * used one (time, sequence, id, source) twice; the smaller value wins then, so that every order of arrival agrees, and
 * `absent` beats `present`. The store's condition expression says the same.
 */
export function supersedes<Value extends string>(
  candidate: Register<Value>,
  current: Register<Value> | undefined,
): boolean {
  if (current === undefined) return true;
  if (candidate.stamp !== current.stamp) return candidate.stamp > current.stamp;
  return compareUtf8(candidate.value, current.value) < 0;
}

/** The winner of two registers: commutative, associative, idempotent. */
export function join<Value extends string>(
  a: Register<Value> | undefined,
  b: Register<Value>,
): Register<Value> {
  return a !== undefined && !supersedes(b, a) ? a : b;
}

/** Order of UTF-8 bytes, as DynamoDB compares strings; JavaScript's own order differs past U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const [left, right] = [hexOfUtf8(a), hexOfUtf8(b)];
  return left < right ? -1 : Number(left > right);
}
