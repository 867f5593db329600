/** Returns the nearest candidate. For a candidate with dots, the text may be only the last part, such as `minSize`. */
export const nearest = (text: string, candidates: readonly string[]): string | undefined =>
  nearestFirst(text, candidates, formsOf)[0];

/**
 * Returns the items with a form that is near the text: the form with the fewest wrong, missing or added
 * characters comes first. Case is ignored. A form is near if the number of its differences is at most 1, or at most 40 %
 * of the number of typed characters.
 */
export function nearestFirst<Item>(
  text: string,
  items: readonly Item[],
  formsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const typed = text.toLowerCase();
  return items
    .map((item) => ({
      item,
      edits: Math.min(...formsOf(item).map((form) => editsBetween(typed, form.toLowerCase()))),
    }))
    .filter(({ edits }) => edits <= Math.max(1, typed.length * 0.4))
    .sort((a, b) => a.edits - b.edits)
    .map(({ item }) => item);
}

const formsOf = (candidate: string): readonly string[] => [candidate, ...candidate.split('.').slice(-1)];

/** The Levenshtein distance: the number of wrong, missing and added characters between two texts. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + Number(!isSame)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
