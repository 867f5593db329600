import { expect, it } from 'vitest';
import { type Bytes, importing, snapshot } from '../support/cli/importing.ts';
import { added, group } from '../support/operate/world.ts';

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string) => Buffer.from(utf16(text)).swap16();
const latin1 = (text: string) => Buffer.from(text, 'latin1');

const PLAIN = [snapshot('c1', 'Csv One', ['m1', 'eva@acme.test'])];
const HEADER = 'group id,group name,member id,email';

it.each<[string, Bytes, ReturnType<typeof snapshot>[]]>([
  [
    'the bulk template of Google Workspace',
    'Group Email [Required],Member Email,Member Type,Member Role\nsales@acme.test,eva@acme.test,USER,MEMBER\nsales@acme.test,all@acme.test,GROUP,MEMBER\n',
    [snapshot('sales@acme.test', 'sales@acme.test', ['eva@acme.test', 'eva@acme.test'])],
  ],
  [
    'the download of Google Workspace',
    'Group Email [Required],Group Name,Member Email,Member Name,Member Role,Member Type\nsales@acme.test,Sales EMEA,eva@acme.test,Eva Ek,MEMBER,USER\n',
    [snapshot('sales@acme.test', 'Sales EMEA', ['eva@acme.test', 'eva@acme.test'])],
  ],
  [
    'GAM',
    'group,email,id,role,status,type\nsales@acme.test,eva@acme.test,111,MEMBER,ACTIVE,USER\n',
    [snapshot('sales@acme.test', 'sales@acme.test', ['111', 'eva@acme.test'])],
  ],
  [
    "Okta's report on group membership",
    'Group Id,Group Name,User Id,Username,First Name,Last Name,Email,Status\n00g7,Ops,00u7,eva@acme.test,Eva,Ek,eva.ek@acme.test,ACTIVE\n',
    [snapshot('00g7', 'Ops', ['00u7', 'eva.ek@acme.test'])],
  ],
  [
    'a report with names of groups only, one of which is known',
    'Group Name,Username\nSales,eva@acme.test\nNew one,eva@acme.test\n',
    [
      snapshot('00g1', 'Sales', ['eva@acme.test', 'eva@acme.test']),
      snapshot('New one', 'New one', ['eva@acme.test', 'eva@acme.test']),
    ],
  ],
  [
    'Excel, with a line that names the separator',
    `sep=;\n${HEADER}\nc1,Csv One,m1,eva@acme.test`.replaceAll(',', ';'),
    PLAIN,
  ],
  ['Entra ID, with a line of its version', `version:v1.0\n${HEADER}\nc1,Csv One,m1,eva@acme.test`, PLAIN],
  ['a spreadsheet with empty last rows', `${HEADER},\nc1,Csv One,m1,eva@acme.test,\n,,,,\n   \n`, PLAIN],
  ['Excel as Unicode', utf16(`${HEADER}\r\nc1,Csv One,m1,eva@acme.test\r\n`.replaceAll(',', '\t')), PLAIN],
  ['UTF-16 of the other byte order', utf16be(`${HEADER}\nc1,Csv One,m1,eva@acme.test`), PLAIN],
  [
    'Excel as CSV of Western Europe',
    latin1(`${HEADER}\nc1,Bücher – nein,m1,eva@acme.test`.replace('–', '-')),
    [snapshot('c1', 'Bücher - nein', ['m1', 'eva@acme.test'])],
  ],
  ['UTF-8 with a byte order mark', `\ufeff${HEADER}\nc1,Csv One,m1,eva@acme.test`, PLAIN],
])('import reads the file of %s', async (_, content, expected) => {
  const { snapshots } = await importing();
  expect(await snapshots(content)).toEqual(expected);
});

it.each([
  [
    'a bulk file of Entra ID, with its example',
    'version:v1.0\nMember object ID or user principal name [memberObjectIdOrUpn] Required\nExample: 9832aad8-e4fe-496b-a604-95c6eF01ae75\n8d1f-1\neva@acme.test\n',
    [['8d1f-1'], ['eva@acme.test', 'eva@acme.test']],
  ],
  [
    'the export of the portal of Entra ID',
    'id,userPrincipalName,displayName,mail,userType,objectType\n8d1f-1,eva@acme.test,Eva,,Member,user\n8d1f-2,ben_x#EXT#@acme.test,Ben,ben@partner.test,Guest,user\n8d1f-3,,Inner,,,group\n',
    [
      ['8d1f-1', 'eva@acme.test'],
      ['8d1f-2', 'ben@partner.test'],
    ],
  ],
  [
    'PowerShell for Active Directory',
    '#TYPE Microsoft.ActiveDirectory.Management.ADPrincipal\r\n"distinguishedName","name","objectClass","objectGUID","SamAccountName"\r\n"CN=Eva","Eva","user","8d1f-1","eva"\r\n"CN=Inner","Inner","group","8d1f-9","inner"\r\n',
    [['8d1f-1']],
  ],
  ['a list of addresses', 'E-mail\neva@acme.test\n', [['eva@acme.test', 'eva@acme.test']]],
] as const)('import reads the file of %s into the group of --group', async (_, content, members) => {
  const { snapshots } = await importing();
  const expected = [snapshot('00g1', 'Sales', ...(members as unknown as [string, string?][]))];
  expect(await snapshots(content, '--group', 'sales')).toEqual(expected);
});

it('import finds a group member by the address in the directory or the address of the employee', async () => {
  const { snapshots, apply, deliver } = await importing();
  await deliver('00g1', group('00g2', 'Other'), added('00g2', 'ben'));
  await apply('00g2');
  const csv = 'Group Email,Member Email\nSales,Ann@ACME.test\nSales,ben@acme.test\nSales,new@acme.test\n';
  expect(await snapshots(csv)).toEqual([
    snapshot('00g1', 'Sales', ['m-ann'], ['m-ben'], ['new@acme.test', 'new@acme.test']),
  ]);
});

it('import --skip-lines skips the lines above the header, and import names this option if the first line is no header', async () => {
  const { cli, snapshots } = await importing();
  const csv = 'Members for group Sales\nEmail address,Nickname,Group status\neva@acme.test,Eva,Member\n';
  const refused = await cli(csv, '--group', 'Sales', '--dry-run');
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('use --skip-lines COUNT if') });
  expect(await snapshots(csv, '--group', 'Sales', '--skip-lines', '1')).toEqual([
    snapshot('00g1', 'Sales', ['eva@acme.test', 'eva@acme.test']),
  ]);
});

it.each([
  ['a file of one group without --group', 'id,mail\n1,eva@acme.test', [], /--group NAME/],
  [
    '--group for a file without that group',
    `${HEADER}\nc1,One,m1,`,
    ['--group', 'Sales'],
    /expected rows of the group Sales, got 1 row of other groups/,
  ],
  [
    'an id column that may be of groups or members',
    'id,group name,email\n1,One,eva@acme.test',
    [],
    /column "id" may be of the group or of the member/,
  ],
  ['bad UTF-8', Buffer.concat([Buffer.from(`${HEADER}\nc1,Bücher,m`), Buffer.from([0xfc])]), [], /damaged/],
] as const)('import refuses %s, and names the expected content', async (_, content, flags, expected) => {
  const { cli } = await importing();
  const { code, stdout, stderr } = await cli(content, ...flags, '--dry-run');
  expect(code).toBeGreaterThan(0);
  expect(stdout + stderr).toMatch(expected);
});

it('import names the option --columns and the headings of the file if these are unusual', async () => {
  const { cli } = await importing();
  const { stdout } = await cli('AD group ID,AD group name,Employee ID,Title\n1,a,2,b', '--dry-run');
  expect(stdout).toMatch(/--columns 'group=HEADING,member=HEADING'.* got 4 fields: "AD group ID", "AD gr/);
});

it.each(['1.16E+20', '1,16E+20', '116204978461894000000'])(
  'import refuses the id %s, which a spreadsheet rounded, and names its line',
  async (id) => {
    const { cli } = await importing();
    const { code, stdout } = await cli(`${HEADER}\nc1,One,m1,\nc1,One,"${id}",`, '--dry-run');
    expect(code).toBe(1);
    expect(stdout).toContain(`line 3: expected a member id of the directory, got "${id}"`);
  },
);

const csv = `${HEADER}\n00g1,Sales,m-ben,ben@acme.test`;

it.each([
  ['2026-11-01T00:00:00Z', 3, { changedSince: ['00g1'], superseded: 1, removed: 0 }],
  ['now', 0, { changedSince: [], superseded: 0, removed: 1 }],
] as const)(
  'import --as-of %s reports groups of a later state and exits with %i',
  async (asOf, code, found) => {
    const { cli } = await importing();
    const { json, ...ran } = await cli(csv, '--as-of', asOf, '--dry-run', '--json');
    expect({ code: ran.code, ...json.comparison }).toMatchObject({ code, ...found });
    const { stdout } = await cli(csv, '--as-of', asOf, '--dry-run');
    expect(stdout.includes("older than the directory's state of 1 group: Sales (00g1)")).toBe(code === 3);
  },
);

const list = 'Group Name,Member Email\nSales,ben@acme.test\nSales,ann@acme.test\n';

it('import --add adds the members of the file to known groups, and removes no member', async () => {
  const { cli, snapshots } = await importing();
  const { json } = await cli(list, '--add', '--dry-run', '--json');
  expect(json).toMatchObject({ kind: 'add', comparison: { added: 1, removed: 0 } });
  expect(await snapshots(list, '--add')).toEqual([
    {
      type: 'directory.group.member.added',
      group: { id: '00g1' },
      members: [{ id: 'ben@acme.test', email: 'ben@acme.test' }, { id: 'm-ann' }],
    },
  ]);
  const { code, stdout } = await cli('Group Name,Member Email\nSail,ben@acme.test\n', '--add', '--dry-run');
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('got "Sail"') });
  expect((await cli(list, '--add', '--remove', '--dry-run')).code).toBe(2);
});

/** Returns a file in which each row has the next value, and the people of its snapshot. */
const people = async (heading: string, values: readonly string[], ...flags: string[]) => {
  const { snapshots } = await importing();
  const rows = ['on', ...values].map((value, at) => `c1,One,m${at},"${at === 0 ? '' : value}"`);
  const sent = await snapshots([`group id,group name,member id,${heading}`, ...rows].join('\n'), ...flags);
  return sent[0].members.map(({ id }: { id: string }) => values[Number(id.slice(1)) - 1] ?? '');
};

it.each([
  ['status', ['ACTIVE', 'SUSPENDED', 'ARCHIVED'], ['ACTIVE']],
  ['Status [READ ONLY]', ['Active', 'Suspended'], ['Active']],
  ['suspended', ['True', 'False'], ['False']],
  ['isArchived', ['TRUE', 'false'], ['false']],
  [
    'User Status',
    ['STAGED', 'PROVISIONED', 'LOCKED_OUT', 'Password expired'],
    ['PROVISIONED', 'LOCKED_OUT', 'Password expired'],
  ],
  ['okta_status', ['DEPROVISIONED', 'Deactivated', 'RECOVERY'], ['RECOVERY']],
  ['accountEnabled', ['True', 'False'], ['True']],
  ['Account enabled', ['WAHR', 'FALSCH'], ['WAHR']],
  ['Block credential', ['False', 'True'], ['False']],
  ['userAccountControl', ['512', '514', '66048'], ['512', '66048']],
  ['user.lifecycle.status', ['ACCOUNT_OK'], ['ACCOUNT_OK']],
  ['Worker Status', ['Active', 'Terminated'], ['Active']],
  ['Active Status', ['Yes', 'No', '1', '0'], ['Yes', '1']],
  [
    'Termination Date',
    ['2026-11-19', '20261231', '31.12.2025', '12/31/2026', 'Never'],
    ['20261231', '12/31/2026', 'Never'],
  ],
  ['Group status', ['Suspended'], ['Suspended']],
])('import leaves out people by the column %s with the values %j', async (heading, values, kept) => {
  expect(await people(heading, values)).toEqual(['', ...kept]);
});

const withStates = `${HEADER},Status,End date\n00g1,Sales,m-ann,,ACTIVE,\n00g1,Sales,m-ben,,suspended,\n00g1,Sales,m-cid,,On leave,02/03/2100\n00g1,Sales,m-dee,,On leave,soon\n00g1,Sales,m-eve,,SUSPENDED,2020-01-01`;

it('import counts the rows that it leaves out by column and value, and counts them neither as sent nor as people', async () => {
  const { cli } = await importing();
  const rules = ['--column-state', 'Status:On leave=active', '--column-state', 'End date:soon=inactive'];
  const { json } = await cli(withStates, ...rules, '--dry-run', '--json');
  const switchedOff = [
    { column: 'Status', value: 'suspended', rows: 2 },
    { column: 'End date', value: 'soon', rows: 1 },
  ];
  expect(json).toMatchObject({ rows: 2, switchedOff });
  expect((await cli(withStates, ...rules, '--dry-run')).stdout).toMatch(
    /^3 rows skipped: account switched off \(Status "suspended": 2 rows, End date "soon": 1 row\)$/m,
  );
  const ignored = await cli(
    withStates,
    '--column-state',
    'status:*=active',
    '--column-state',
    'END DATE:*=active',
    '--dry-run',
    '--json',
  );
  expect(ignored.json).toMatchObject({ rows: 5, errorCount: 0 });
  expect(ignored.json.switchedOff).toBeUndefined();
  expect((await cli(withStates, '--column-state', 'State:x=active', '--dry-run')).stdout).toContain(
    '"State:x"',
  );
  const removed = await cli(withStates, '--remove', '--dry-run', '--json');
  expect(removed.json).toMatchObject({ rows: 5, ignoredColumns: ['Status', 'End date'] });
  expect(removed.json.comparison).toMatchObject({ added: 0, removed: 1 });
  const none = await cli(`${HEADER},status\n00g1,Sales,m-ann,,SUSPENDED`, '--dry-run');
  expect(none).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('got only rows of accounts that are switched off'),
  });
});

it('import names unknown states with column, value, line and option, and exits with 2, also at a terminal', async () => {
  const { cli, answering, sent } = await importing();
  for (const flags of [['--yes'], ['--dry-run'], []]) {
    const { code, stderr } = await cli(withStates, ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `line 4: column "Status" has "On leave" (2 rows); --column-state 'Status:On leave=active'`,
    );
    expect(stderr).toContain(
      `line 5: column "End date" has "soon" (1 row); --column-state 'End date:soon=active'`,
    );
  }
  expect((await answering([], withStates, '--dry-run')).code).toBe(2);
  expect(sent).toEqual([]);
});

it('the preview of an import counts pending members by cause', async () => {
  const { cli, leaves } = await importing();
  await leaves('ben');
  const csv = `${HEADER}\n00g1,Sales,m-ann,ann@acme.test\n00g1,Sales,m-ben,ben@acme.test\n00g1,Sales,m-eva,eva@acme.test\n`;
  const { json } = await cli(csv, '--dry-run', '--json');
  expect(json.comparison.pending.toSorted()).toEqual(
    expect.arrayContaining([
      { cause: 'inactive', count: 1 },
      { cause: 'unknown', count: 1 },
    ]),
  );
  expect((await cli(csv, '--dry-run')).stdout).toContain('2 will be pending: ');
});
