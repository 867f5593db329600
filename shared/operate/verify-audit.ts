import type { AuditCheck } from '../contract/answers.ts';
import type { GroupRef } from '../domain/ids.ts';
import { type AuditLog, linksOf } from '../sync/ports/logs.ts';

/** Entries are deleted by then. */
const LIFE_MS = 400 * 86_400_000;

/**
 * Compares each entry of a group's audit with what later ones, and the group's item, say of it:
 *
 *     item names ──▶ newest ──names──▶ the one before ──names──▶ … ──▶ the first
 *
 * Whoever changes or removes an entry has to change all after it, and the item. Not to be told is an entry that nothing
 * names: of an earlier release, or put by a worker that died before it could name it.
 */
export async function verifyAudit(
  ref: GroupRef,
  { audit, clock }: { readonly audit: Pick<AuditLog, 'read' | 'head'>; readonly clock: () => number },
): Promise<AuditCheck> {
  const named = new Set(linksOf((await audit.head(ref)) ?? {}));
  const found = new Map<string, string>();
  for await (const page of audit.read(ref)) {
    for (const { link, previous = [] } of page) {
      found.set(placeOf(link), link);
      for (const one of previous) named.add(one);
    }
  }
  const oldest = new Date(clock() - LIFE_MS).toISOString();
  const broken = [...named]
    .filter((link) => found.get(placeOf(link)) !== link && atOf(link) > oldest)
    .sort()
    .map((link) => ({
      at: atOf(link),
      id: placeOf(link),
      problem: found.has(placeOf(link)) ? ('changed' as const) : ('missing' as const),
    }));
  return { group: ref.group || null, entries: found.size, named: named.size, broken: broken[0] ?? null };
}

/** Links are `<instant>#<intent>#<hash>`. */
const placeOf = (link: string): string => link.slice(0, link.lastIndexOf('#'));
const atOf = (link: string): string => link.slice(0, link.indexOf('#'));
