/** Text in chunks, its lines ended by LF where they end in CRLF, LF or CR. */
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

/** Its lines. The readline of Node 24 ends them at U+2028 and U+2029 too, which JSON may hold as they are. */
export async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of withLineFeeds(chunks)) {
    const [first = '', ...others] = chunk.split('\n');
    begun += first;
    for (const next of others) {
      yield begun;
      begun = next;
    }
  }
  if (begun !== '') yield begun;
}
