export async function* withLineFeeds(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '';
  for await (const chunk of chunks) {
    const text = before + chunk;
    before = text.endsWith('\r') ? '\r' : '';
    const whole = text.slice(0, text.length - before.length);
    if (whole !== '') yield whole.replace(/\r\n?/g, '\n');
  }
  if (before !== '') yield '\n';
}

/**
 * Splits chunks of text into lines. Node 24's readline also splits at U+2028 and U+2029, which JSON text may contain.
 */
export async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let partial = '';
  for await (const chunk of withLineFeeds(chunks)) {
    const [first = '', ...others] = chunk.split('\n');
    partial += first;
    for (const next of others) {
      yield partial;
      partial = next;
    }
  }
  if (partial !== '') yield partial;
}
