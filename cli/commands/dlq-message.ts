import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownDeadLetter } from '../../shared/contract/answers/dead-letters.ts';
import { parseJson } from '../../shared/contract/json.ts';
import {
  discardDeadLetters,
  findDeadLetters,
  problemsOf,
  SHORT_ID,
  sendAmended,
} from '../../shared/operate/dead-letters/amend.ts';
import type { DeadLetter } from '../../shared/operate/dead-letters/dead-letter.ts';
import { describeDeadLetter } from '../../shared/operate/dead-letters/describe.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { type Names, NotFound } from '../../shared/operate/names.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { askYes, canAsk } from '../output/ask.ts';
import { plural, shellWords } from '../output/words.ts';
import {
  groupOf,
  type MessageFilter,
  type QueueOption,
  queuesOf,
  selectionOf,
  surveyChosen,
} from './dlq-queue.ts';
import { toMs } from './explain.ts';

async function findOne(context: Context, id: string, options: QueueOption): Promise<DeadLetter> {
  const [deadLetter] = await findDeadLetters([id], queuesOf(options), await context.ports());
  if (deadLetter !== undefined) return deadLetter;
  throw new NotFound(
    `no dead-lettered message has the id ${id}, or another consumer is processing it: groupsync dlq list`,
  );
}

export async function show(context: Context, id: string, options: QueueOption): Promise<number> {
  const { out } = context;
  const deadLetter = await findOne(context, id, options);
  const { document, missing } = await describeDeadLetter(deadLetter, await context.ports());
  const named = {
    groups: [...document.events, ...document.now].flatMap(({ group }) => group ?? []),
    members: document.events.flatMap(({ members }) => members.slice(0, SHOWN_MEMBERS)),
  };
  const of = deadLetter.connection ?? context.connection;
  await recordRead(of, { what: 'message', id: document.id }, await context.ports());
  const names = await context.names(named, deadLetter.connection);
  out.answer(document, (shown) => print(shown, names, context));
  const short = shellWords(document.id.slice(0, SHORT_ID));
  const [first] = missing;
  const isRefused = document.problems.length > 0;
  if (first !== undefined) {
    out.note(`connect ${first} and replay the message; if that is the wrong company, edit or discard it`);
    out.note(`next: groupsync connect ${shellWords(first)}`);
  }
  if (!isRefused || first !== undefined) out.note(`next: groupsync dlq replay ${short}`);
  if (isRefused && document.queue === 'events') out.note(`next: groupsync dlq edit ${short}`);
  if (isRefused) out.note(`next: groupsync dlq discard ${short} --reason unusable`);
  return EXIT.done;
}

const SHOWN_BODY = 2_000;
const SHOWN_MEMBERS = 10;

function print(deadLetter: ShownDeadLetter, names: Names, { out }: Context): void {
  out.line(`message     ${deadLetter.id} (${deadLetter.queue})`);
  out.line(`connection  ${deadLetter.connection ?? 'unknown'}`);
  out.line(`cause       ${deadLetter.code}: ${deadLetter.message}`);
  const again =
    deadLetter.failures === 1 ? '' : `; failed ${deadLetter.failures} times, last ${deadLetter.failedAt}`;
  out.line(`since       ${deadLetter.firstFailedAt}${again}`);
  out.line(`superseded  ${deadLetter.superseded ? 'yes: newer state exists' : 'no'}`);
  for (const problem of deadLetter.problems) out.line(`now         ${out.paint.red(problem)}`);
  for (const event of deadLetter.events) out.line(eventLine(event, names));
  for (const { group, state, platformId, wanted, users } of deadLetter.now) {
    out.line(
      `group now   ${names.group(group)}: ${state}; ${wanted} wanted; platform ${platformId ?? 'has no group'}, ${plural(users, 'user')}`,
    );
  }
  out.line();
  const shown = pretty(deadLetter.body).slice(0, SHOWN_BODY);
  for (const line of parseJson(deadLetter.body).ok ? shown.split('\n') : [shown]) out.line(line);
}

function eventLine({ kind, group, time, members }: ShownDeadLetter['events'][number], names: Names): string {
  const shown = members.slice(0, SHOWN_MEMBERS).map(names.member);
  const who = shown.length === 0 ? '' : `: ${shown.join(', ')}`;
  return `event       ${kind} ${group === null ? '' : names.group(group)} at ${toMs(time) ?? '?'}${who}`;
}

const pretty = (body: string): string => rewritten(body, 2);

function rewritten(body: string, indent = 0): string {
  try {
    return JSON.stringify(JSON.parse(body), null, indent);
  } catch {
    return body;
  }
}

/**
 * While the editor is open, the message stays visible in the queue. After the edit, the command receives the message
 * again and finds it by its id.
 */
export async function edit(context: Context, id: string, { reason }: { reason: string }): Promise<number> {
  const { out, io } = context;
  const editor = editorOf(io);
  const ports = await context.ports();
  const deadLetter = await findOne(context, id, { queue: 'events' });
  const original = pretty(deadLetter.message.body);
  const accepted = (text: string) => problemsOf(rewritten(text), deadLetter.message, ports.clock());
  let edited = await editText(original, editor, io);
  for (let problems = accepted(edited); problems.length > 0; problems = accepted(edited)) {
    if (edited === original) break;
    if (!canAsk(io)) throw new Error(`not sent: ingest would refuse the message: ${problems.join('; ')}`);
    for (const line of ['not sent: ingest would refuse the message:', ...problems]) out.note(line);
    if (!(await askYes(io, 'Open the editor again?'))) return EXIT.failed;
    edited = await editText(edited, editor, io);
  }
  if (edited === original) {
    out.answer({ id: deadLetter.message.id, sent: false }, () => out.line('not edited; nothing was sent'));
    return EXIT.done;
  }
  if (!(await context.confirm('Replace the original message?'))) return EXIT.failed;
  // The editor shows indented JSON. The message is sent as compact JSON, because of the size limit.
  const body = rewritten(edited);
  const sent = await sendAmended(deadLetter, { body, reason }, ports);
  out.answer({ id: deadLetter.message.id, sent }, () =>
    out.line(
      sent
        ? 'sent; the audit keeps the original'
        : 'another consumer took the message in the meantime; nothing was sent',
    ),
  );
  return sent ? EXIT.done : EXIT.failed;
}

/** @throws UsageError if no editor is set and there is no terminal */
function editorOf(io: Context['io']): string {
  const editor = io.env['VISUAL'] || io.env['EDITOR'] || (canAsk(io) ? 'vi' : undefined);
  if (editor === undefined) throw new UsageError('set EDITOR or VISUAL to an editor');
  return editor;
}

/** The file is readable only by its owner and is deleted afterwards, because messages contain names and addresses. */
async function editText(text: string, editor: string, io: Context['io']): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-edit-'));
  const file = join(folder, 'message.json');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const child = spawn(`${editor} "$GROUPSYNC_EDITED_FILE"`, {
      shell: true,
      stdio: 'inherit',
      env: { ...io.env, GROUPSYNC_EDITED_FILE: file },
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`the editor exited with code ${code}; nothing was sent`);
    return readFileSync(file, 'utf8').trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function discard(
  context: Context,
  ids: readonly string[],
  options: MessageFilter & { readonly reason?: string },
): Promise<number> {
  const { out, io } = context;
  const selection = await selectionOf(context, ids, options);
  if (!canAsk(io)) await context.reason(options.reason);
  const { messages, inFlightElsewhere } = await surveyChosen(context, selection, options);
  const shown = messages.slice(0, SHOWN_DEAD_LETTERS);
  const names = await context.names({ groups: shown.flatMap(({ group }) => group ?? []) });
  const groupName = groupOf(names, context);
  for (const deadLetter of shown)
    out.note(
      `${deadLetter.id.slice(0, SHORT_ID)}  ${deadLetter.code}  ${groupName(deadLetter) ?? ''}  ${deadLetter.message}`,
    );
  if (messages.length > SHOWN_DEAD_LETTERS) out.note(`… and ${messages.length - SHOWN_DEAD_LETTERS} more`);
  if (messages.length === 0) {
    if (ids.length > 0 || inFlightElsewhere > 0)
      throw new NotFound(
        'no dead-lettered message has these ids, or another consumer is processing the messages: groupsync dlq list',
      );
    out.answer({ discarded: 0, missing: 0 }, () => out.line('nothing to discard'));
    return EXIT.done;
  }
  const reason = await context.reason(options.reason);
  if (!(await context.confirm(`Discard ${plural(messages.length, 'message')}? This cannot be undone.`)))
    return EXIT.failed;
  const ports = await context.ports();
  let discarded = 0;
  for (const queue of queuesOf(options)) {
    const chosen = messages.filter((message) => message.queue === queue).map(({ id }) => id);
    discarded += await discardDeadLetters(queue, new Set(chosen), { reason, signal: io.signal, ports });
  }
  const missing = Math.max(ids.length, messages.length) - discarded;
  out.answer({ discarded, missing }, () => {
    out.line(`${plural(discarded, 'message')} deleted`);
    if (missing > 0) out.line(`${missing} not found, or in use by another consumer`);
  });
  return missing === 0 ? EXIT.done : EXIT.attention;
}

const SHOWN_DEAD_LETTERS = 20;
