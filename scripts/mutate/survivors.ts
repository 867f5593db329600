/*
 * Mutants that no test can notice, by the reason. A survivor that is not listed here fails `npm run mutate`.
 */

const REASONS: Readonly<Record<string, readonly string[]>> = {
  'it puts back what is there already': [
    'shared/domain/fold.ts: if (found === undefined) folds.set(event.connection, fold); | found === undefined → true',
  ],
  'stamps that are equal do not come here': [
    'shared/domain/register.ts: if (candidate.stamp !== current.stamp) return candidate.stamp > current.stamp; | > → >=',
  ],
  'parts of equal stamps may come in any order': [
    'shared/domain/fold.ts: const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp)); | < → <=',
    'shared/domain/fold.ts: const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp)); | > → >=',
  ],
  'a part that leaves the window was counted when it came in': [
    'shared/domain/fold.ts: const left = (inWindow.get(index) ?? 0) - 1; | 0 → 1',
  ],
  'the milliseconds are cut off, or do not change the day': [
    'shared/domain/stamp.ts: const local = new Date(0); | 0 → 1',
    'shared/domain/stamp.ts: const lastDay = new Date(0); | 0 → 1',
  ],
  'a factor of one, negative or not, divides as it multiplies': [
    "shared/domain/stamp.ts: const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS * (sign === '-' ? -1 : 1); | * → /",
  ],
  'both are falsy, and the only caller asks no more': [
    'shared/domain/stamp.ts: if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60) return false; | return false; → return undefined;',
  ],
  'what follows the milliseconds is cut off by the parser': [
    `shared/domain/stamp.ts: return Date.parse(\`\${stamp.slice(0, 23)}Z\`); | 23 → 24`,
  ],
  'of equal stamps either is the later': [
    'shared/domain/stamp.ts: export const laterStamp = (a: Stamp, b: Stamp): Stamp => (a < b ? b : a); | < → <=',
  ],
  'of equal stamps either is the earlier': [
    'shared/domain/stamp.ts: export const earlierStamp = (a: Stamp, b: Stamp): Stamp => (b < a ? b : a); | < → <=',
  ],
  'members that differ always come as a list': [
    'shared/plan/waive.ts: if (!Array.isArray(users)) return; | !Array.isArray(users) → false',
  ],
  'only the order of these numbers counts, and it stays the same': [
    'shared/plan/attribute.ts: const RANK: Readonly<Record<string, number>> = { ROLE: 3, SYSTEM: 2, [APPLICATION]: 1 }; | 3 → 4',
    'shared/plan/plan.ts: remove_member: 6, | 6 → 7',
  ],
  'a view with waiver undefined is stored and compared like one without': [
    'shared/plan/draft.ts: ...(waiver === undefined ? {} : { waiver }), | waiver === undefined → false',
  ],
  'no plan holds both kinds whose order would change': [
    'shared/plan/plan.ts: create_group: 0, | 0 → 1',
    'shared/plan/plan.ts: delete_group: 1, | 1 → 2',
    'shared/plan/plan.ts: release_group: 2, | 2 → 3',
  ],
  'of equal kinds the removals come later still, by `before`': [
    'shared/plan/plan.ts: add_member: 5, | 5 → 6',
  ],
  'only the sign counts': [
    'shared/plan/plan.ts: export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0); | 1 → 2',
  ],
  'the other kinds carry no list there': [
    "shared/plan/waive.ts: if (kind === 'members_added') move(after, { into: present, outOf: absent }); | kind === 'members_added' → true",
    "shared/plan/waive.ts: if (kind === 'members_removed') move(before, { into: absent, outOf: present }); | kind === 'members_removed' → true",
  ],
};

export const SURVIVORS: ReadonlyMap<string, string> = new Map(
  Object.entries(REASONS).flatMap(([reason, lines]) => lines.map((line) => [line, reason] as const)),
);
