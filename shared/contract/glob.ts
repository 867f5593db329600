export const MAX_GLOB_LENGTH = 512;

/**
 * Whether the whole `text` matches `pattern`. `*` stands for any number of characters, and `?` for exactly one
 * character. Every other character stands for itself, case matters, and there is no escape character.
 *
 * After a mismatch, only the last `*` is extended by one character. So the number of steps is at most pattern length ×
 * text length. A regular expression with several stars could need many more.
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
