/** Weak, because equal resources may be written differently (RFC 7644 section 3.14). */
export const etagOf = (version: number): string => `W/"${version}"`;

const TAG = /(?:W\/)?"([^"]*)"/g;

/**
 * Whether a header If-Match or If-None-Match names the version: `*`, or one of a list. Compared weakly, since all of
 * ours are weak; a bare version without quotes, as some clients send it, is taken too.
 */
export function namesVersion(header: string, version: number): boolean {
  const text = header.trim();
  if (text === '*' || text === String(version)) return true;
  return [...text.matchAll(TAG)].some(([, tag]) => tag === String(version));
}
