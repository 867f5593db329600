import { expect, it } from 'vitest';
import { parseCsv } from '../../cli/csv.ts';
import { decodeMessage } from '../../shared/contract/decode.ts';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import type { Headings } from '../../shared/operate/import/columns.ts';
import { importCsv } from '../../shared/operate/import/import.ts';
import { durationLines, importRate } from '../../shared/operate/import/rate.ts';
import { createRowSort } from '../../shared/operate/import/row-sort.ts';
import { createAuditLog } from '../../shared/store/logs.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { calledBy } from '../support/engine/test-engine.ts';
import { NOW_MS } from '../support/operate/world.ts';

async function* inChunks(text: string, size = 7) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function records(text: string, size?: number) {
  const found = [];
  for await (const record of parseCsv(inChunks(text, size))) found.push(record);
  return found;
}

interface Asked {
  readonly columns?: Headings;
  readonly asOf?: string;
}

async function run(csv: string, { columns, asOf }: Asked = {}) {
  const sent: string[] = [];
  let planned: unknown;
  let nowMs = NOW_MS;
  const report = await importCsv(
    parseCsv(inChunks(csv, 1_000)),
    {
      events: {
        send: async (messages) => {
          sent.push(...messages.map(({ body }) => body));
          return messages.map((_, at) => ({ messageId: `m${at}` }));
        },
      },
      audit: createAuditLog(new MemoryTable()),
      ...calledBy('Ann'),
      clock: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
      newId: () => 'import-1',
    },
    {
      connection: DEFAULT_CONNECTION,
      file: 'members.csv',
      dryRun: false,
      directory: { groupOf: async (text) => ({ id: text, name: text }), memberOf: async () => undefined },
      refuseStates: () => {
        throw new Error('expected only known states of accounts');
      },
      asOf,
      columns,
      confirm: async (plan) => {
        planned = plan;
        return true;
      },
    },
  );
  const events = sent.flatMap((body) => {
    const decoded = decodeMessage({ body, messageId: 'm', sentAtMs: NOW_MS, receivedAtMs: NOW_MS });
    expect(decoded.rejected).toEqual([]);
    return decoded.events;
  });
  return { report, sent, events, planned, seconds: (nowMs - NOW_MS) / 1_000 };
}

it('parseCsv reads line endings of every kind, quotes and a byte order mark, and returns line numbers', async () => {
  const text = '\uFEFFa,"b,1"\n\r\n"c\r\nd",e\r"f""g"';
  for (const size of [1, 3, 1_000]) {
    const read = await records(text, size);
    expect(read.map(({ line, fields }) => [line, ...fields])).toEqual([
      [1, 'a', 'b,1'],
      [3, 'c\nd', 'e'],
      [5, 'f"g'],
    ]);
  }
});

it.each([
  ['a quote inside a field', 'a,b\nc"d,e\nf', 2, /start with a quote/],
  ['text after a closing quote', '"x\ny",2\n"f" g,h', 3, /after a closing quote/],
  ['a quote that is never closed', 'a\n"b\nc', 3, /before the end/],
  ['a record that is too long', `"${'x'.repeat(70_000)}`, 1, /at most 65536/],
])('parseCsv stops at %s, and returns the line number', async (_, text, line, says) => {
  for (const size of [1, 1_000]) {
    expect((await records(text, size)).at(-1)).toMatchObject({
      line,
      problem: expect.stringMatching(says),
    });
  }
});

it('importCsv sends a large file slowly, so that the table has room for other connections', async () => {
  const rows = Array.from({ length: 8_000 }, (_, n) => `g${n % 80},Group,u${n},u${n}@acme.test`);
  expect((await run(rows.slice(0, 800).join('\n'))).seconds).toBe(0);
  expect((await run(rows.join('\n'))).seconds).toBe(9);
});

it.each(['yesterday', new Date(NOW_MS + 301_000).toISOString(), '2024-01-01T00:00:00Z'])(
  'importCsv sends nothing for the invalid time %s',
  async (asOf) => {
    await expect(run('g1,One,u1,u1@acme.test', { asOf })).rejects.toThrow(/^as of: expected a time/);
  },
);

it('importCsv makes one snapshot per group, even if the rows of a group are scattered over the file', async () => {
  const csv =
    'group_id,group name,MEMBER ID,e-mail\ng2,Two,m1,a@x\ng1,One,m2\ng2,Two,m0,b@x\ng1,One,m1,c@x\ng3,Three,,\n';
  const { report, events, planned } = await run(csv);
  expect(planned).toEqual({ rows: 5, groups: 3, messages: 3 });
  expect(report).toMatchObject({ rows: 5, groups: 3, messages: 3, errorCount: 0, sent: true });
  expect(events.map(({ change }) => change)).toMatchObject([
    { kind: 'group.snapshot', group: 'g1', name: 'One', members: [{ id: 'm1' }, { id: 'm2' }] },
    { kind: 'group.snapshot', group: 'g2', name: 'Two', members: [{ id: 'm0' }, { id: 'm1' }] },
    { kind: 'group.snapshot', group: 'g3', name: 'Three', members: [] },
  ]);
});

it('importCsv counts a row that lists no person', async () => {
  const { planned } = await run('group id,member id,member type\ng1,m1,USER\ng1,m2,GROUP');
  expect(planned).toMatchObject({ rows: 1, noPeople: 1 });
});

it('importCsv splits a large group into numbered parts that contain every member once', async () => {
  const rows = Array.from(
    { length: 5_000 },
    (_, at) => `big,B\u2028ig,member-${at % 4_500},p${at % 4_500}@acme.example`,
  );
  const { events, sent, report } = await run(rows.join('\n'));
  const parts = events.map(
    ({ change }) =>
      change as unknown as { part: { index: number; count: number }; members: { id: string }[] },
  );
  const [{ part: first }] = parts as [(typeof parts)[0]];
  expect(first.count).toBeGreaterThan(3);
  expect(parts.map(({ part }) => part.index)).toEqual(Array.from({ length: first.count }, (_, at) => at));
  const members = parts.flatMap(({ members: some }) => some.map(({ id }) => id));
  expect(new Set(members).size).toBe(4_500);
  expect(members).toHaveLength(4_500);
  expect(report.messages).toBe(first.count);
  for (const body of sent) expect(Buffer.byteLength(body)).toBeLessThan(100_000);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

it.each([
  ['no group id', 'g1,One,m1,\n,One,m1,', 2, /group id/],
  ['another name for the same group', 'g1,One,m1,\ng1,Uno,m2,', 2, /line 1/],
  ['another address for the same member', 'g1,One,m1,a@x\ng1,One,m2,\ng1,One,m1,b@x', 3, /line 1/],
  ['an id that is too long', `g1,One,${'m'.repeat(513)},`, 1, /at most 512/],
  ['an invalid address', 'g1,One,m1,\ng1,One,m2,ann at acme', 2, /e-mail address, got "ann at acme"/],
  ['no content', '\n', 1, /empty file/],
  ['an invisible group name', 'g1,\u200b\u2060,m1,', 1, /a visible character, got 2 characters/],
  ['only a header', 'group id,group name,member id\n', 1, /only a header/],
  ['a control character', 'g1,One,m\u0001,', 1, /control characters/],
])('importCsv sends nothing for a file with %s, and reports the line', async (_, csv, line, says) => {
  const { report, sent } = await run(csv);
  expect(sent).toEqual([]);
  expect(report).toMatchObject({ sent: false, errorCount: 1 });
  expect(report.errors).toEqual([{ line, message: expect.stringMatching(says) }]);
});

it('importCsv reports a column that the operator names and the file does not have', async () => {
  const { report } = await run('Team,Person\n1,2', { columns: new Map([['group id', 'Squad'] as const]) });
  expect(report.errors).toEqual([{ line: 1, message: expect.stringMatching(/a column "Squad"/) }]);
});

it('importCsv reads the first line as a row if only its group name looks like a heading', async () => {
  const { events } = await run('g1,Mail,m1,a@x');
  expect(events.map(({ change }) => change)).toMatchObject([{ group: 'g1', name: 'Mail' }]);
});

it.each([
  ['unknown headings', 'Team,Label,Person,Contact', /expected a header .*"Team", "Label"/],
  ['three unknown headings', 'Team,Label,Person', /group id, group name, member id, email/],
  ['semicolons and a comma', 'group id;group, name;member id', /--delimiter ';'/],
  ['no column of members', 'group id,group name,department', /expected a column member id or email/],
  [
    'only one known heading',
    'Name,Team,Person,Mail',
    /expected a column group id or group name(?!.*--skip-lines)/,
  ],
  [
    'two columns of groups',
    'group id,Group ID,member id',
    /expected one column group id .*'group=HEADING'.*more/,
  ],
  ['a header and a row in one line', 'group id,group name,member id,ann@acme.test', /expected a header/],
])(
  'importCsv sends nothing for a first line with %s, and reports what it expected',
  async (_, first, says) => {
    const { report, sent } = await run(`${first}\ng1,One,m1,a@x\ng1,One,m2,`);
    expect(sent).toEqual([]);
    expect(report.errors).toEqual([{ line: 1, message: expect.stringMatching(says) }]);
  },
);

it('importCsv refuses a row with more or fewer fields than the header', async () => {
  const { report } = await run('group name,group id,member id,email\nSales, EMEA,g1,m1,a@x\nOne,g1');
  expect(report.errors.map(({ line, message }) => [line, message])).toEqual([
    [2, expect.stringMatching(/expected 4 fields.*got 5/)],
    [3, expect.stringMatching(/expected 4 fields.*got 2/)],
  ]);
});

it('importCsv reports errors in the order of their lines', async () => {
  const { report } = await run('g2,Two,m1,a@x\ng2,Two,m1,b@x\ng1,One,m1,a@x\ng1,One,m1,b@x');
  expect(report.errors.map(({ line }) => line)).toEqual([2, 4]);
});

it('the sort of the rows refuses more rows than its limit', () => {
  const rowSort = createRowSort(2);
  const row = { line: 3, group: 'g', name: 'G', member: 'm', email: '' };
  rowSort.add({ ...row, line: 1 });
  rowSort.add({ ...row, line: 2 });
  expect(() => rowSort.add(row)).toThrow(/^line 3: expected at most 2 rows in one file, got more/);
});

const table = (warmUnits?: number) => ({ tableName: 'groupsync-state', warmUnits });
const takes = (minutes: number) =>
  expect.stringContaining(`sending takes about ${minutes} minutes, so other connections are not delayed`);

it('a large import on a new table shows the command that warms table and index', () => {
  const [sending, command, ...more] = durationLines(100_001, table(4_000));
  expect([sending, more]).toEqual([takes(2), []]);
  expect(command).toBe(
    "aws dynamodb update-table --table-name groupsync-state --warm-throughput ReadUnitsPerSecond=60000,WriteUnitsPerSecond=20000 --global-secondary-index-updates '" +
      '[{"Update":{"IndexName":"due","WarmThroughput":{"ReadUnitsPerSecond":60000,"WriteUnitsPerSecond":20000}}}]' +
      "'",
  );
});

it.each([
  ['a warmed table', 1_000_000, 20_000, [takes(4)]],
  ['a table whose warm throughput is not known', 1_000_000, undefined, [takes(21)]],
  ['few memberships', 100_000, 4_000, [takes(2)]],
  ['an import of seconds', 20_000, 4_000, []],
])('the duration of an import, without a command: %s', (_, memberships, warmUnits, lines) => {
  expect(durationLines(memberships, table(warmUnits))).toEqual(lines);
});

it('an import is never slower than on a new table', () => {
  expect([1, 4_000, 8_000].map(importRate)).toEqual([800, 800, 1_600]);
});
