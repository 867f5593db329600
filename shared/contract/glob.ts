/** Longest pattern and longest text that a glob is ever run over; ids and names at the boundary are no longer. */
export const MAX_GLOB_LENGTH = 512;

/**
 * Whether `text` as a whole matches `pattern`: `*` stands for any characters or none, `?` for exactly one, everything
 * else for itself, case included. There is no escape: a `?` in the pattern also matches a `?`.
 *
 * Only the last `*` is ever revisited (an earlier one could gain nothing by taking more), so the work is bounded by
 * pattern × text and no pattern can make it explode, as a regular expression with nested stars could.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const wanted = Array.from(pattern);
  const given = Array.from(text);
  let w = 0;
  let g = 0;
  let star = -1;
  let starTook = 0;
  while (g < given.length) {
    if (wanted[w] === '*') {
      star = w++;
      starTook = g;
    } else if (w < wanted.length && (wanted[w] === '?' || wanted[w] === given[g])) {
      w++;
      g++;
    } else if (star >= 0) {
      w = star + 1;
      g = ++starTook;
    } else {
      return false;
    }
  }
  while (wanted[w] === '*') w++;
  return w === wanted.length;
}
