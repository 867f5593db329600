/** Removals that the guard stopped, waiting for a person. Additions and names of the same group go on. */
export interface Hold {
  /** Names the set: hex sha256 over link, action and sorted removals. */
  readonly digest: string;
  readonly rule: 'share' | 'count' | 'per_hour';
  readonly removes: number;
  /** Users that stay in any case. */
  readonly keeps: number;
  readonly share: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision: HoldDecision;
  /** Where the full set lies, and how to tell that it is whole; filled in by the store. */
  readonly chunks: number;
  readonly hash: string;
}

export type HoldDecision =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'approved' | 'rejected';
      readonly by: string;
      readonly reason: string;
      readonly atMs: number;
    };

/** A hold that nobody decided, or an approval that nobody used, ends after this; the removals are held anew. */
export const HOLD_LIFE_MS = 7 * 24 * 3_600_000;
