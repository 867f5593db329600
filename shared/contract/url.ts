/**
 * Returns the parsed URL; undefined if the text is no URL. `URL.canParse` is not used: in Node 20 and 22, V8 optimises
 * it after some thousand calls. It then returns false for every URL with characters beyond ASCII.
 */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
