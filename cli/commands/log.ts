import type { Command } from 'commander';
import type { LogEntry } from '../../shared/contract/answers/explain.ts';
import { settingDifference } from '../../shared/contract/setting-difference.ts';
import { journalOf, recordRead } from '../../shared/operate/journal.ts';
import { type LogFilter, readLog } from '../../shared/operate/log.ts';
import { allGroups, type Names, NO_NAMES, undefinedIfNoMatch, withId } from '../../shared/operate/names.ts';
import { type AuditCheck, verifyAudit } from '../../shared/operate/verify-audit.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural, shellWord, shellWords } from '../output/words.ts';
import { examples, moment, wholeNumber } from './arguments.ts';

interface LogOptions extends Pick<LogFilter, 'actor' | 'action' | 'event' | 'limit'> {
  readonly since?: string;
  readonly group?: string;
  readonly member?: string;
  readonly follow?: boolean;
  readonly details?: boolean;
}

export function addLog(program: Command, act: Act): void {
  program
    .command('log')
    .description(
      'show all entries, newest last: writes, holds, gate, operator actions, external changes, with reason and actor',
    )
    .option('--group <group>', 'id, name, or a prefix')
    .option('--since <time>', 'an ISO time, "yesterday 14:00" or "2h ago"')
    .option('--member <member>', 'only entries about this member: id, address, name or platform id')
    .option('--actor <text>', 'only entries by this actor: part of an id or name')
    .option(
      '--action <action>',
      'only this action, such as patch, holds_approve, or drift for all external changes',
    )
    .option('--event <id>', 'only changes that this event caused; deliveries lists the events')
    .option('--limit <n>', 'maximum number of entries', wholeNumber, 50)
    .option('--details', 'list the changes of each entry, each with its reason')
    .option('--follow', 'wait for new entries; with --json one entry per line')
    .addHelpText(...examples('log --since 2h', 'log --group 00g1 --details', 'log --actor ada --follow'))
    .action(act(showLog));
  program
    .command('audit')
    .description('verify that no entry of the log was changed or removed')
    .argument('[group]', 'id, name, or a prefix; without it: actions on the connection')
    .option('--verify', 'compare each entry with the hashes in later entries')
    .option('--all', 'every group, and the actions on the connection')
    .option('--from <id>', 'with --all: go on at this group, where an earlier command was stopped')
    .addHelpText(...examples('audit 00g1 --verify', 'audit --verify --all'))
    .action(act(verify));
}

/**
 * Returns all ids of the member. Changes contain platform user ids, but the operator may know only the directory's id or
 * a name.
 */
export async function idsOf({ connection, ports, member }: Context, text: string) {
  const found = await member(text).catch(undefinedIfNoMatch);
  if (found === undefined) return new Set([text]);
  const { users, people } = await ports();
  const user = (await users.read(connection, [found])).get(found);
  const roles = await people.rolesOf(connection, user ?? {});
  const onPlatform = roles.flatMap(({ role, userId }) => [role, userId]);
  return new Set([text, found, user?.role, user?.userId, ...onPlatform].filter((id) => id !== undefined));
}

export const POLL_MS = 2_000;
/** Two consecutive queries overlap by this time, because the index may be behind and clocks differ. */
const OVERLAP_MS = 10_000;
const MAX_PER_READ = 1_000;

async function showLog(
  context: Context,
  { group, member, since, details = false, follow, ...options }: LogOptions,
): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  const ref = group === undefined ? undefined : await context.group(group);
  const filter = {
    ...options,
    group: ref?.group,
    member: member === undefined ? undefined : await idsOf(context, member),
    sinceMs: since === undefined ? undefined : moment(since, ports.clock()),
  };
  const found = await readLog(connection, filter, ports);
  // The log of a removed connection stays, but an unknown name is an error.
  if (found.entries.length === 0) await context.connected();
  await recordRead(connection, { what: 'activity', group: ref?.group }, ports);
  if (!found.complete)
    out.note(`showing at most ${filter.limit} entries (--limit) of the newest 5000; older entries may match`);
  if (follow === true && details) throw new UsageError('--follow: expected no such option with --details');
  if (follow === true) return followLog(context, found.entries, filter);
  const names = details ? await namesIn(context, found.entries) : NO_NAMES;
  const print = (entry: LogEntry) => (details ? printEntry(entry, names, out) : out.line(lineOf(entry, out)));
  out.answer(found, ({ entries }) => {
    if (entries.length === 0) out.line('no entries match');
    else for (const entry of entries) print(entry);
  });
  const [event] = found.entries.flatMap(({ changes }) => changes.flatMap((one) => one.event ?? [])).slice(-1);
  if (details && event !== undefined) out.note(`next: groupsync deliveries --event ${shellWords(event.id)}`);
  return EXIT.done;
}

async function followLog(context: Context, found: readonly LogEntry[], filter: LogFilter): Promise<number> {
  const { out, connection, io } = context;
  const ports = await context.ports();
  let entries = found;
  const seen = new Set<string>();
  while (!io.signal.aborted) {
    for (const entry of entries.filter(({ id }) => !seen.has(id))) {
      seen.add(entry.id);
      out.entry(entry, (shown) => lineOf(shown, out));
    }
    await ports.sleep(POLL_MS, io.signal).catch(() => undefined);
    const sinceMs = Math.max(filter.sinceMs ?? 0, ports.clock() - POLL_MS - OVERLAP_MS);
    if (!io.signal.aborted)
      ({ entries } = await readLog(connection, { ...filter, sinceMs, limit: MAX_PER_READ }, ports));
  }
  return EXIT.done;
}

export function lineOf(entry: LogEntry, { paint, clip }: Pick<Context['out'], 'paint' | 'clip'>): string {
  const { at, action, outcome, actor } = entry;
  const cause = entry.cause === actor.id ? '' : entry.cause.replace(RESTORES, 'restores ');
  const about = [named(entry.group, entry.groupName), named(entry.member, entry.memberName)].filter(Boolean);
  const what = [
    paint.bold(action),
    ...about,
    changesText(entry, clip),
    outcome === 'written' ? '' : outcome,
  ].filter(Boolean);
  return `${at}  ${named(actor.id, actor.name)}  ${what.join('  ')}  ${paint.dim(clip(entry.reason ?? cause, CLIPPED))}`;
}

/** The cause of a write that reverts drift starts with the ids of the drift records. */
const RESTORES = /^drift [\w, ]+; /;

const KIND_TEXTS: Readonly<Record<string, string>> = { add_member: 'added', remove_member: 'removed' };
const kindText = (kind: string): string => KIND_TEXTS[kind] ?? kind.replaceAll('_', ' ');

function changesText({ action, changes, changeCount }: LogEntry, clip: Clip): string {
  const [only] = changes;
  if (changeCount === 1 && only) {
    const isOneSided = (only.before === null) !== (only.after === null);
    return `${isOneSided && !action.endsWith(only.kind) ? `${kindText(only.kind)} ` : ''}${fromTo(only, clip)}`;
  }
  const counts = new Map<string, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const more = changeCount - changes.length;
  const summary = [...counts].map(([kind, count]) => `${kindText(kind)} ${count}`);
  if (more > 0) summary.push(`${more} more`);
  return summary.join(', ');
}

export const named = (id: string | null, name: string | null): string =>
  id === null ? '' : withId(name ?? undefined, id);

function printEntry(entry: LogEntry, names: Names, out: Context['out']): void {
  const { changes, changeCount, versionAfter, cause } = entry;
  const formatUser = (id: string | null) => id && names.user(id);
  out.line(`${lineOf(entry, out)}${versionAfter === null ? '' : `, version ${versionAfter}`}`);
  if (entry.reason !== null) out.line(out.paint.dim(`  ${cause}`));
  const isShared = changes.every((one) => formatCause(one) === formatCause({ ...entry, approved: null }));
  for (const change of changes.slice(0, 10)) {
    const { kind, reason } = change;
    const [before, after] = [formatUser(change.before), formatUser(change.after)];
    const what = [kindText(kind), fromTo({ ...change, before, after }, out.clip)].join(' ').trim();
    out.line(`  ${what}: ${reason}${isShared ? '' : `; ${formatCause(change)}`}`);
  }
  if (changeCount > 10) out.line(`  … and ${changeCount - 10} more changes`);
}

type Caused = Pick<LogEntry['changes'][number], 'cause' | 'actor' | 'approved'>;

/** Formats what caused a change: `event e1 of okta by ann, approved by bob: reason`. */
export function formatCause({ cause, actor, approved }: Caused): string {
  const text = `${cause.replace(RESTORES, 'restores ')} by ${named(actor.id, actor.name)}`;
  return approved === null ? text : `${text}, approved by ${approved.by}: ${approved.reason}`;
}

function namesIn({ names }: Context, entries: readonly LogEntry[]): Promise<Names> {
  const groups = entries.flatMap(({ group }) => group || []);
  const changed = entries.flatMap(({ changes }) => changes.map((change) => change.member));
  const members = [...changed, ...entries.map(({ member }) => member)].flatMap((id) => id ?? []);
  return names({ groups, members, usersOf: groups });
}

async function verify(
  context: Context,
  group: string | undefined,
  { verify, all, from = '' }: { verify?: boolean; all?: boolean; from?: string },
) {
  if (verify !== true) throw new UsageError('audit: expected --verify; "groupsync log" shows the entries');
  if (all === true ? group !== undefined : from !== '')
    throw new UsageError('expected a group or --all, and --from only with --all');
  const { out, connection, io } = context;
  const ports = await context.ports();
  const journal = journalOf(connection);
  const refs = group === undefined ? [journal] : [await context.group(group)];
  if (all === true) refs.push(...(await allGroups(connection, ports)));
  const progress = out.progress('verifying');
  const checks: AuditCheck[] = [];
  const open = refs.filter((ref) => ref.group >= from);
  for (const ref of open) {
    if (io.signal.aborted) break;
    checks.push(await verifyAudit(ref, ports));
    progress.show(checks.length, open.length);
  }
  progress.end();
  const sumOf = (count: 'entries' | 'named') => checks.reduce((sum, check) => sum + check[count], 0);
  const broken = checks.flatMap(({ group: of, broken }) => (broken === null ? [] : { group: of, ...broken }));
  const next = open[checks.length]?.group ?? null;
  const report = { chains: checks.length, entries: sumOf('entries'), named: sumOf('named'), broken, next };
  out.answer(report, ({ entries, named: count }) => {
    const found = plural(entries, 'entry', 'entries');
    if (broken.length === 0)
      out.line(`${found}: none was changed or removed; later entries confirm ${count} of them`);
    for (const { group: of, at, problem } of broken)
      out.line(out.paint.red(`${of ?? 'the connection'}: the entry of ${at} is ${problem}`));
    if (broken.length > 0) out.line(`${found} in ${plural(checks.length, 'chain')}`);
  });
  if (next !== null) {
    out.note(`stopped after ${checks.length} of ${plural(open.length, 'chain')}`);
    out.note(`next: groupsync audit --verify --all --from ${shellWord(next)}`);
    return EXIT.failed;
  }
  return broken.length === 0 ? EXIT.done : EXIT.attention;
}

type Clip = Context['out']['clip'];

/**
 * On a terminal, this many characters of a value, a reason or a cause are shown. A value may be a whole dead-lettered
 * message.
 */
const CLIPPED = 60;

function fromTo({ kind, reason, before, after }: LogEntry['changes'][number], clip: Clip): string {
  if (kind.endsWith('_setting')) return settingDifference(reason, before, after);
  return before !== null && after !== null
    ? `${clip(before, CLIPPED)} → ${clip(after, CLIPPED)}`
    : clip(after ?? before ?? '', CLIPPED);
}
