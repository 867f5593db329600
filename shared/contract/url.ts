/**
 * Returns the parsed URL; undefined if the text is no URL. `URL.canParse` is not used: in Node 20 and 22, after some
 * thousand calls, V8 optimises it and it returns false for every URL with characters beyond ASCII.
 */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
