/** Invalid message bodies, each with the code that ingest must give the dead-lettered message. */
export const BAD_BODIES: readonly { readonly code: string; readonly body: (n: number) => string }[] = [
  { code: 'invalid_json', body: (n) => `{"broken": ${n}` },
  { code: 'invalid_json', body: (n) => `no JSON at all ${n}` },
  { code: 'invalid_event', body: (n) => `${'['.repeat(40)}${n}${']'.repeat(40)}` },
  { code: 'invalid_event', body: (n) => String(n) },
  { code: 'invalid_event', body: (n) => JSON.stringify(`text ${n}`) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ hello: n }) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ ...nativeEvent(n), specversion: '0.3' }) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ ...nativeEvent(n), time: 'yesterday' }) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ ...nativeEvent(n), data: { group: {} } }) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ ...nativeEvent(n), data: null }) },
  { code: 'invalid_event', body: (n) => JSON.stringify({ ...nativeEvent(n), id: 'x'.repeat(513) }) },
  {
    code: 'unknown_type',
    body: (n) => JSON.stringify({ ...nativeEvent(n), type: 'directory.group.merged' }),
  },
  { code: 'unknown_connection', body: (n) => JSON.stringify({ ...nativeEvent(n), connection: 'missing' }) },
  {
    code: 'time_in_future',
    body: (n) => JSON.stringify({ ...nativeEvent(n), time: '9999-01-01T00:00:00Z' }),
  },
  { code: 'too_old', body: (n) => JSON.stringify({ ...nativeEvent(n), time: '2001-01-01T00:00:00Z' }) },
];

const nativeEvent = (n: number) => ({
  specversion: '1.0',
  id: `bad-${n}`,
  source: 'test',
  type: 'directory.group.upserted',
  time: new Date().toISOString(),
  data: { group: { id: `bad-${n}`, name: 'Bad' } },
});
