/**
 * The URL that a text is; undefined if it is none. Not by `URL.canParse`: in Node 20 and 22 it is false for every URL beyond ASCII
 * once V8 has optimised it, after some thousand calls.
 */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
