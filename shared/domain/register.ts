import type { EventActor } from './event.ts';
import { hexOfUtf8, type Stamp } from './stamp.ts';

/** A value with the stamp of the event that set it. The later stamp wins, whatever the order of arrival. */
export interface Register<Value extends string> {
  readonly value: Value;
  readonly stamp: Stamp;
  /** The actor of the event, if known. No decision depends on the actor. */
  readonly actor?: EventActor;
}

/** Whether a member is in a group. With equal stamps, `absent` wins over `present` (`supersedes`). */
export type Presence = 'absent' | 'present';

/**
 * Whether `candidate` replaces `current`. Two values have the same stamp only if a producer used the same time,
 * sequence, id and source twice. Then the value that sorts first wins, so the result does not depend on the order of
 * arrival. The store's condition expression has the same rule.
 */
export function supersedes<Value extends string>(
  candidate: Register<Value>,
  current: Register<Value> | undefined,
): boolean {
  if (current === undefined) return true;
  if (candidate.stamp !== current.stamp) return candidate.stamp > current.stamp;
  return compareUtf8(candidate.value, current.value) < 0;
}

/** Returns the winner of two registers. The function is commutative, associative and idempotent. */
export function join<Value extends string>(
  a: Register<Value> | undefined,
  b: Register<Value>,
): Register<Value> {
  return a !== undefined && !supersedes(b, a) ? a : b;
}

/** Compares UTF-8 bytes, as DynamoDB compares strings. JavaScript's own order differs after U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const [left, right] = [hexOfUtf8(a), hexOfUtf8(b)];
  return left < right ? -1 : Number(left > right);
}
