import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { added, group, removed, SIX, savedWorld } from '../support/operate/world.ts';

/*
 * Text of a directory, a platform or a queue may contain characters that move the cursor, colour or reorder text, or
 * begin a line. The command line must escape each of them in a terminal and in a log.
 */

const ESCAPE = '\u001b';
const EVIL = 'x\u001b[31m\u001b]0;t\u0007\u009b2J\u202e\u2066\u007f\r\nall is well';
const NO_LINE = /^all is well/m;
const UNSEEN = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const COLOURS = new RegExp(`${ESCAPE}\\[(?:1|2|22|31|32|39)m`, 'g');
const ID = `g${EVIL}`;
const DEAD_LETTER = `1f9a01bc${EVIL}`;

/** Creates a company in which every name contains control characters. */
async function evilWorld() {
  const world = await savedWorld();
  const { ports, connection, mailboxes } = world;
  await world.hire(...SIX);
  const by = { actor: `actor${EVIL}`, id: `event${EVIL}` };
  await world.deliver(
    ID,
    { ...group(ID, `name${EVIL}`), ...by },
    added(ID, ...SIX),
    added(ID, `stranger${EVIL}`),
  );
  await world.deliver(ID, removed(ID, 'ann', 'bob', 'cid', 'dee'));
  mailboxes.events.add({
    id: DEAD_LETTER,
    body: `{"a${EVIL}`,
    code: 'invalid_json',
    connection: `no${EVIL}`,
  });
  const seen = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, seen, { state: 'paused', reason: `reason${EVIL}`, closings: 1 });
  const cli = (args: readonly string[], around = {}) => runCli(args, { ports, ...around });
  return { ...world, cli };
}

const READING: readonly (readonly string[])[] = [
  ...[['status'], ['status', ID], ['groups'], ['pending'], ['plan'], ['log'], ['log', '--group', ID]],
  ...[
    ['log', '--group', ID, '--details'],
    ['audit', '--verify', '--all'],
    ['holds'],
    ['holds', 'show', ID],
    ['explain', ID, 'm-ann'],
    ['person', 'm-ann'],
  ],
  ...[
    ['explain', ID, `m-stranger${EVIL}`],
    ['person', `m-stranger${EVIL}`],
    ['status', `no${EVIL}`],
  ],
  ...[
    ['dlq', 'list'],
    ['dlq', 'show', DEAD_LETTER],
    ['doctor'],
    ['connections'],
    ['connections', 'show'],
    ['log', '--action', 'drift'],
  ],
  ...[
    ['resume', '--yes'],
    ['sync', ID, '--yes'],
    ['holds', 'reject', ID, '--reason', EVIL, '--yes'],
  ],
  ['holds', 'reject', ID, '--reason', EVIL, '--yes'],
];

it.each([
  ['a terminal', [], { columns: 120 }],
  ['a log', [], {}],
  ['a wide table', ['-o', 'wide'], {}],
  ['CSV output', ['-o', 'csv'], {}],
])('%s shows names with control characters in escaped form', async (_, also, around) => {
  const { cli } = await evilWorld();
  let colours = 0;
  for (const args of READING) {
    const { stdout, stderr } = await cli([...args, ...also], around);
    colours += stdout.match(COLOURS)?.length ?? 0;
    // Output to a terminal may contain only groupsync's own colours.
    const bare = `${stdout}${stderr}`.replaceAll(COLOURS, '');
    expect(bare, args.join(' ')).not.toMatch(UNSEEN);
    expect(bare, args.join(' ')).not.toMatch(NO_LINE);
    expect(stdout, args.join(' ')).not.toContain(`x${ESCAPE}`);
  }
  expect(colours > 0).toBe('columns' in around);
});

it('a JSON document escapes control characters, and a JSON parser restores the original text', async () => {
  const { cli } = await evilWorld();
  for (const args of READING) {
    const { stdout, stderr } = await cli([...args, '--json']);
    expect(stdout, args.join(' ')).not.toMatch(UNSEEN);
    if (stdout !== '') expect(() => JSON.parse(stdout), `${args.join(' ')}: ${stderr}`).not.toThrow();
  }
  const { json } = await cli(['groups', '--json']);
  expect(json.groups[0]).toMatchObject({ id: ID, name: `name${EVIL}` });
});

it('log --follow --json prints each entry on one line with escaped control characters', async () => {
  const { ports } = await evilWorld();
  const stopping = new AbortController();
  const sleep = async () => stopping.abort();
  const { stdout } = await runCli(['log', '--follow', '--json'], {
    ports: { ...ports, sleep },
    signal: stopping.signal,
  });
  expect(stdout).not.toMatch(UNSEEN);
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.length).toBeGreaterThan(1);
  expect(entries.every(({ group }) => group === ID)).toBe(true);
});
