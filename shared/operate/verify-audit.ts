import type { AuditReport } from '../contract/answers/explain.ts';
import type { GroupRef } from '../domain/ids.ts';
import type { AuditLog } from '../sync/ports/bundles.ts';
import { AUDIT_LIFETIME_MS, ERASING, entriesIn, linksOf } from '../sync/ports/logs.ts';

/** The result for one audit. `broken` is its first changed or removed entry. */
export interface AuditCheck extends Pick<AuditReport, 'entries' | 'named'> {
  readonly group: string | null;
  readonly broken: Pick<AuditReport['broken'][number], 'at' | 'problem'> | null;
}

/** A period from `sinceMs`, which is not part of it, to `untilMs`. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

type VerifiedAudit = Pick<AuditLog, 'read' | 'head' | 'usersOf'>;

/**
 * Compares each entry of a group's audit with the hashes in later entries and in the group's item, and its users with
 * the hash in the entry:
 *
 *    item names ──▶ newest ──names──▶ the one before ──names──▶ … ──▶ the first
 *
 * A changed or removed entry is detected if at least one later entry, or the item, still names the original. If a
 * worker died directly after it wrote an entry, nothing may name this entry. A change of such an entry is not detected.
 * @param period the period whose entries must be stored (default: the lifetime of entries)
 */
export async function verifyAudit(
  ref: GroupRef,
  { audit, clock }: { readonly audit: VerifiedAudit; readonly clock: () => number },
  { sinceMs, untilMs }: Period = { sinceMs: clock() - AUDIT_LIFETIME_MS, untilMs: Number.POSITIVE_INFINITY },
): Promise<AuditCheck> {
  const { named, found, changed } = await readLinks(ref, audit);
  // If an entry of the same time exists that nothing names, it is the missing entry with changed content.
  const others = new Set([...changed, ...[...found].filter((link) => !named.has(link)).map(atMsOf)]);
  const [first] = [...changed, ...[...named].filter((link) => !found.has(link)).map(atMsOf)]
    .filter((atMs) => atMs > sinceMs && atMs <= untilMs)
    .sort((a, b) => a - b);
  const counts = { group: ref.group || null, entries: found.size, named: named.size };
  if (first === undefined) return { ...counts, broken: null };
  const problem = others.has(first) ? 'changed' : 'missing';
  return { ...counts, broken: { at: new Date(first).toISOString(), problem } };
}

/**
 * Returns the links of the stored entries, the links that later entries or the group's item name, and the times of the
 * entries whose users do not have the hash of the entry.
 */
async function readLinks(ref: GroupRef, audit: VerifiedAudit) {
  const named = new Set(linksOf((await audit.head(ref)) ?? {}));
  const found = new Set<string>();
  const changed: number[] = [];
  for await (const entry of entriesIn(audit.read(ref))) {
    const { link, action, previous = [] } = entry;
    found.add(link);
    // An entry with this action records that all earlier entries were erased, so its links lead to nothing.
    for (const one of action === ERASING ? [] : previous) named.add(one);
    if ((await audit.usersOf(ref, entry)) === undefined) changed.push(entry.atMs);
  }
  return { named, found, changed };
}

/** A link has the form `<milliseconds since 1970>#<hash>`. */
const atMsOf = (link: string): number => Number.parseInt(link, 10);
