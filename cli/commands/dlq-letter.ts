import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownLetter } from '../../shared/contract/answers.ts';
import { readStamp } from '../../shared/domain/stamp.ts';
import {
  discardLetter,
  findLetters,
  problemsOf,
  sendAmended,
} from '../../shared/operate/dead-letters/amend.ts';
import type { Letter } from '../../shared/operate/dead-letters/letter.ts';
import { missingConnections, standingOf } from '../../shared/operate/dead-letters/standing.ts';
import { isSuperseded } from '../../shared/operate/dead-letters/superseded.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { type QueueOption, queuesOf } from './dlq-queue.ts';

async function findOne(context: Context, id: string, options: QueueOption): Promise<Letter> {
  const [letter] = await findLetters([id], queuesOf(options), await context.ports());
  if (letter !== undefined) return letter;
  throw new NotFound(
    `no dead letter has the id ${id} (or another consumer holds it right now): groupsync dlq list`,
  );
}

export async function show(context: Context, id: string, options: QueueOption): Promise<number> {
  const { out } = context;
  const ports = await context.ports();
  const letter = await findOne(context, id, options);
  const { message, queue, events } = letter;
  const missing = await missingConnections(letter, ports);
  const problems = [
    ...letter.problems,
    ...missing.map((name) => `unknown_connection: there is no connection ${name}`),
  ];
  const superseded = await isSuperseded(letter, ports);
  const now = await standingOf(letter, ports);
  const decoded = events.map(({ connection, source, stamp, id: eventId, change }) => ({
    id: eventId,
    source,
    connection,
    time: readStamp(stamp)?.time ?? null,
    kind: change.kind,
    group: 'group' in change ? change.group : null,
    members: 'members' in change ? change.members.map(({ id: member }) => member) : [],
  }));
  const document: ShownLetter = {
    id,
    queue,
    code: message.code,
    message: message.message,
    failedAt: new Date(message.failedAtMs).toISOString(),
    connection: message.connection ?? null,
    superseded,
    problems,
    events: decoded,
    now,
    body: message.body,
  };
  out.answer(document, () => print(document, context));
  const replay = `groupsync dlq replay ${id}`;
  const [first] = missing;
  if (problems.length === 0) out.note(`next: ${replay}`);
  else if (first !== undefined) out.note(`next: groupsync connect ${first}, then ${replay}`);
  else out.note(`next: groupsync dlq edit ${id}, or mend the cause and replay`);
  return EXIT.done;
}

const SHOWN_BODY = 2_000;

function print(letter: ShownLetter, { out }: Context): void {
  out.line(`message     ${letter.id} (${letter.queue})`);
  out.line(`cause       ${letter.code}: ${letter.message}`);
  out.line(`since       ${letter.failedAt}`);
  out.line(`superseded  ${letter.superseded ? 'yes: newer state has made it moot' : 'no'}`);
  for (const problem of letter.problems) out.line(`now         ${out.paint.red(problem)}`);
  for (const { kind, group, time, members } of letter.events) {
    const who = members.length === 0 ? '' : `: ${members.slice(0, 10).join(', ')}`;
    out.line(`event       ${kind} ${group ?? ''} at ${time ?? '?'}${who}`);
  }
  for (const { group, state, platformId, wanted, users } of letter.now) {
    out.line(
      `group now   ${group}: ${state}; ${wanted} wanted; platform ${platformId ?? 'has none'}, ${users} users`,
    );
  }
  out.line();
  out.line(pretty(letter.body).slice(0, SHOWN_BODY));
}

const pretty = (body: string): string => rewritten(body, 2);

function rewritten(body: string, indent = 0): string {
  try {
    return JSON.stringify(JSON.parse(body), null, indent);
  } catch {
    return body;
  }
}

interface Reason {
  readonly reason: string;
}

/** The message goes back while a person thinks, and is taken again, by its id, when they are done. */
export async function edit(context: Context, id: string, { reason }: Reason): Promise<number> {
  const { out } = context;
  const ports = await context.ports();
  const letter = await findOne(context, id, { queue: 'events' });
  const original = pretty(letter.message.body);
  const edited = await editText(original, context);
  if (edited === original) {
    out.answer({ id, sent: false }, () => out.line('nothing was changed, nothing was sent'));
    return EXIT.done;
  }
  // Indented for the editor only: a large message would not fit then.
  const body = rewritten(edited);
  const problems = problemsOf(body, letter.message, ports.clock());
  if (problems.length > 0) throw new Error(`not sent, ingest would refuse it:\n${problems.join('\n')}`);
  if (!(await context.confirm('Send it in place of the original?'))) return EXIT.failed;
  const sent = await sendAmended(letter, { body, reason }, ports);
  out.answer({ id, sent }, () =>
    out.line(
      sent
        ? 'sent; the original is kept in the audit'
        : 'somebody else took the message meanwhile; nothing was sent',
    ),
  );
  return sent ? EXIT.done : EXIT.failed;
}

/** Readable by its owner only, and gone afterwards: a message holds names and addresses. */
async function editText(text: string, { io }: Context): Promise<string> {
  const editor = io.env['VISUAL'] || io.env['EDITOR'];
  if (!editor) throw new UsageError('set EDITOR (or VISUAL) to the editor to use');
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-edit-'));
  const file = join(folder, 'message.json');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    await new Promise<void>((resolve, reject) => {
      const child = spawn(`${editor} "$GROUPSYNC_EDITED_FILE"`, {
        shell: true,
        stdio: 'inherit',
        env: { ...io.env, GROUPSYNC_EDITED_FILE: file },
      });
      child.on('error', reject);
      child.on('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`the editor ended with ${code}; nothing was sent`)),
      );
    });
    return readFileSync(file, 'utf8').trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function discard(
  context: Context,
  ids: readonly string[],
  options: QueueOption & Reason,
): Promise<number> {
  const { out, io } = context;
  if (options.reason.trim() === '') throw new UsageError('--reason: expected why, got nothing');
  const ports = await context.ports();
  const letters = await findLetters(ids, queuesOf(options), ports);
  for (const { message, group } of letters) {
    out.note(`${message.id}  ${message.code}  ${group ?? ''}  ${message.message}`);
  }
  if (letters.length === 0) throw new NotFound('none of these is a dead letter: groupsync dlq list');
  if (!(await context.confirm(`Delete ${plural(letters.length, 'message')} for good?`))) {
    return EXIT.failed;
  }
  let discarded = 0;
  for (const letter of letters) {
    if (io.signal.aborted) break;
    if (await discardLetter(letter, options.reason, ports)) discarded += 1;
  }
  const missing = ids.length - discarded;
  out.answer({ discarded, missing }, () => {
    out.line(`${plural(discarded, 'message')} deleted`);
    if (missing > 0) out.line(`${missing} not found, or held by another consumer`);
  });
  return missing === 0 ? EXIT.done : EXIT.attention;
}
