/** The name that was most likely meant; undefined where none is near. Case does not count. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    // More than every second letter wrong is another word.
    .filter(({ name, distance }) => distance <= Math.max(given.length, name.length) / 2)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name;
}

/** How many letters must be put in, left out or changed (Levenshtein), one row of the table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at += 1) {
      const change = (row[at] ?? 0) + (letter === to[at] ? 0 : 1);
      next.push(Math.min(change, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
