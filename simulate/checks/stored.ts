import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { Seen } from '../world.ts';

/* The types of stored items. The checks define these types themselves, because they share no code with the engine. */

export interface StoredGroup {
  readonly upserted?: string;
  readonly deleted?: string;
  readonly snapshot?: string;
  readonly name?: { readonly value: string; readonly stamp: string };
  readonly rev?: number;
  readonly dirtySince?: number;
  readonly settled?: string;
  readonly failedAt?: number;
  readonly lastError?: { readonly code: string };
  readonly refusedFields?: Readonly<Partial<Record<'name' | 'spokeId', { readonly value: string }>>>;
  readonly link?: { readonly id: string };
  readonly intent?: { readonly action: string; readonly atMs: number };
  readonly removals?: { readonly sets: readonly StoredHold[] };
  readonly released?: boolean;
  readonly pausedAt?: number;
}

/** Returns the sets of held removals of a group: pending, approved and rejected. */
export const holdsIn = ({ removals }: StoredGroup): readonly StoredHold[] => removals?.sets ?? [];

export const hasWaiting = (group: StoredGroup): boolean =>
  holdsIn(group).some(({ decision }) => decision.kind === 'waiting');

export interface StoredHold {
  readonly digest: string;
  readonly deletes?: boolean;
  readonly createdAtMs: number;
  readonly decision: { readonly kind: string; readonly atMs?: number };
}

/** Either the register of a member in a group, or the item of a user. */
export interface StoredMember {
  readonly member: string;
  readonly presence?: string;
  readonly stamp: string;
  readonly pendingCause?: string;
  readonly floor?: string;
  readonly fanOut?: number;
  readonly role?: string;
}

export interface StoredAudit {
  readonly atMs: number;
  readonly action: string;
  readonly cause: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly outcome: string;
  readonly versionBefore?: string | null;
  readonly versionAfter: string | null;
}

export interface StoredDrift {
  readonly id: string;
  readonly group: string;
  readonly platformId: string | null;
  readonly kind: string;
  readonly before: string | readonly string[] | null;
  readonly after: string | readonly string[] | null;
  readonly initiator: string;
  readonly detectedAtMs: number;
  readonly settledBy: string | null;
}

/** The checks expect an audit entry or a drift record for this time. The table deletes both after 400 days. */
export const RECORDS_KEPT_MS = 395 * 86_400_000;

const part = (text: string) =>
  !/[%#~]/.test(text) ? text : text.replaceAll('%', '%25').replaceAll('#', '%23').replaceAll('~', '%7E');

export const partitionOf = (connection: string, group: string) => `G#${connection}#${part(group)}`;

export const readItem = <Form>({ items }: Seen, key: string): Form | undefined => items.get(key) as Form;

export const storedMember = (seen: Seen, connection: string, group: string, member: string) =>
  readItem<StoredMember>(seen, `${partitionOf(connection, group)} M#${part(member)}`);

export const storedUser = (seen: Seen, connection: string, member: string) =>
  readItem<StoredMember>(seen, `U#${connection}#${part(member)} USER`);

/** Returns the users whose removal a hold with this digest covers. */
export const heldUsers = (
  under: Seen['under'],
  connection: string,
  group: string,
  digest: string | undefined,
) =>
  under<{ readonly text: string }>(partitionOf(connection, group), `HELD#${digest}#`).flatMap(({ text }) =>
    text === '' ? [] : text.split('\n').map(decodeURIComponent),
  );

/** Returns whether a refresh of people has confirmed the binding. Until then, its index key begins with `#`. */
export const isConfirmed = (seen: Seen, connection: string, role: string, member: string): boolean =>
  readItem<{ gsk: string }>(seen, `R#${connection}#${part(role)} M#${part(member)}`)?.gsk[0] !== '#';

/**
 * Returns whether a group is excluded, and its mode. `names` are the group's id and name. The first group policy whose
 * pattern matches one of these names decides. The default is the mode of the connection.
 */
export function treatmentOf(
  { groups, mode }: ConnectionSettings,
  names: readonly (string | undefined)[],
): { readonly isExcluded: boolean; readonly mode: string } {
  const fits = (glob: string) => names.some((name) => name !== undefined && fitsGlob(glob, name));
  const policy = groups.policies.find(({ match }) => fits(match));
  const isExcluded = !groups.include.some(fits) || groups.exclude.some(fits);
  return { isExcluded, mode: policy?.mode ?? mode };
}

const PATTERNS = new Map<string, RegExp>();

function fitsGlob(glob: string, text: string): boolean {
  const known = PATTERNS.get(glob);
  if (known !== undefined) return known.test(text);
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  PATTERNS.set(glob, new RegExp(`^${pattern}$`, 's'));
  return fitsGlob(glob, text);
}
