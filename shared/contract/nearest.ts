/**
 * Returns the candidate with the fewest wrong, missing, added or exchanged characters. Case is ignored. For a candidate
 * with dots, such as `guard.minSize`, the text may be only the last part (`minSize`).
 * @returns undefined if no candidate is near. A candidate is near if the number of its differences is at most 1, or at
 * most 40 % of the number of typed characters
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const typed = text.toLowerCase();
  const [best] = candidates
    .map((candidate) => ({
      candidate,
      edits: Math.min(...formsOf(candidate).map((form) => editsBetween(typed, form))),
    }))
    .filter(({ edits }) => edits <= Math.max(1, typed.length * 0.4))
    .sort((a, b) => a.edits - b.edits);
  return best?.candidate;
}

const formsOf = (candidate: string): readonly string[] => {
  const low = candidate.toLowerCase();
  return [low, low.split('.').at(-1) ?? low];
};

/** The optimal string alignment distance: the number of edits and of exchanged neighbours between two texts. */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isExchanged = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const edits = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + Number(!isSame)];
      if (isExchanged) edits.push((before[j - 2] ?? 0) + 1);
      next.push(Math.min(...edits));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
