/*
 * Mutants that no test can notice, each with the reason. A survivor that is not listed here fails `npm run mutate`.
 */

const ORDER_ONLY = 'only the order of these numbers counts, and it stays the same';
const SIGN_ONLY = 'only the sign counts';

export const SURVIVORS: ReadonlyMap<string, string> = new Map([
  [
    'shared/plan/attribute.ts: const RANK: Readonly<Record<string, number>> = { ROLE: 3, SYSTEM: 2, EXTERNAL: 1 }; | 3 → 4',
    ORDER_ONLY,
  ],
  [
    'shared/plan/draft.ts: ...(waiver === undefined ? {} : { waiver }), | waiver === undefined → false',
    'a view with waiver undefined is stored and compared like one without',
  ],
  ['shared/plan/plan.ts: create_group: 0, | 0 → 1', 'no plan holds both kinds whose order would change'],
  ['shared/plan/plan.ts: delete_group: 1, | 1 → 2', 'no plan holds both kinds whose order would change'],
  ['shared/plan/plan.ts: release_group: 2, | 2 → 3', 'no plan holds both kinds whose order would change'],
  [
    'shared/plan/plan.ts: add_member: 5, | 5 → 6',
    'of equal kinds the removals come later still, by `before`',
  ],
  ['shared/plan/plan.ts: remove_member: 6, | 6 → 7', ORDER_ONLY],
  [
    'shared/plan/plan.ts: export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0); | 1 → 2',
    SIGN_ONLY,
  ],
  [
    "shared/plan/waive.ts: if (kind === 'members_added') move(after, { into: present, outOf: absent }); | kind === 'members_added' → true",
    'the other kinds carry no list there',
  ],
  [
    "shared/plan/waive.ts: if (kind === 'members_removed') move(before, { into: absent, outOf: present }); | kind === 'members_removed' → true",
    'the other kinds carry no list there',
  ],
]);
