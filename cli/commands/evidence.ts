import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AuditReport } from '../../shared/contract/answers/explain.ts';
import { csvLine } from '../../shared/contract/csv.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { connectionName, type GroupRef, groupId } from '../../shared/domain/ids.ts';
import { type Access, type AccessChange, accessTo } from '../../shared/operate/evidence.ts';
import { journalOf, recordAction, withGroupsBefore } from '../../shared/operate/journal.ts';
import { allGroups } from '../../shared/operate/names.ts';
import { type Period, verifyAudit } from '../../shared/operate/verify-audit.ts';
import { openFolderAudit } from '../../shared/runtime/folder-audit.ts';
import { entriesSince, linksOf } from '../../shared/sync/ports/logs.ts';
import { collectPages } from '../../shared/sync/tuning.ts';
import type { Act, Context } from '../context.ts';
import { type EvidenceGroup, openEvidence, readEvidence } from '../evidence-folder.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural, shellWords } from '../output/words.ts';
import { examples, pastMoment } from './arguments.ts';
import { idsOf } from './log.ts';

interface EvidenceFlags {
  readonly member?: string;
  readonly all?: boolean;
  readonly since: string;
  readonly until: string;
  readonly file?: string;
}

export function addEvidence(program: Command, act: Act): void {
  const evidence = program
    .command('evidence')
    .description('write a folder for an auditor: who had access, since when, by which event or approval')
    .argument('[group]', 'id, name, or a prefix')
    .option('--member <member>', 'one person in all groups: id, address, name or platform id')
    .option('--all', 'every group of the connection')
    .option('--since <time>', 'an ISO time, "yesterday 14:00" or "90d ago"', '400d ago')
    .option('--until <time>', 'the end of the period', '0s ago')
    .option('--file <folder>', 'a new folder; if the command was stopped, the same command goes on')
    .addHelpText(
      ...examples('evidence Engineering --file evidence', 'evidence --all --since "90d ago" --file evidence'),
    )
    .action(act(writeEvidence));
  evidence
    .command('verify')
    .description('compare a folder of evidence with its hashes, and its entries with each other; without AWS')
    .argument('<folder>')
    .addHelpText(...examples('evidence verify evidence', 'evidence verify evidence --json'))
    .action(act(verifyEvidence));
}

async function writeEvidence(context: Context, text: string | undefined, flags: EvidenceFlags) {
  const { member, all, file } = flags;
  if ([text, member, all].filter((one) => one !== undefined).length !== 1)
    throw new UsageError('expected a group, --member or --all');
  if (file === undefined) throw new UsageError('expected --file FOLDER');
  const { out, connection, io } = context;
  const { ports } = await context.connected();
  const only = text === undefined ? undefined : await context.group(text);
  const ids = member === undefined ? undefined : await idsOf(context, member);
  // The first of the ids is the text of the operator, which may be an address.
  const about = only?.group ?? [...(ids ?? ['', 'all groups'])][1] ?? member ?? '';
  const [since, until] = [flags.since, flags.until].map((time) =>
    new Date(pastMoment(time, ports.clock())).toISOString(),
  ) as [string, string];
  const folder = resolve(io.cwd, file);
  const written = openEvidence(folder, { connection, about, since, until });
  const period = { sinceMs: Date.parse(written.request.since), untilMs: Date.parse(written.request.until) };
  const change = { kind: 'read_evidence', before: null, after: about, reason: 'evidence' };
  await recordAction(journalOf(connection), { action: 'read_evidence', changes: [change] }, ports);
  const groups =
    only === undefined ? await allGroups(connection, ports) : await withGroupsBefore(only, ports.reader);
  const refs = [journalOf(connection), ...groups];
  const progress = out.progress('writing');
  const done = new Set(written.done.map(({ group }) => group));
  for (const ref of refs.filter(({ group }) => !done.has(group))) {
    if (io.signal.aborted) break;
    written.add(...(await evidenceOf(ref, period, ids, context)));
    progress.show(written.done.length, refs.length);
  }
  progress.end();
  if (written.done.length < refs.length) {
    out.note(`stopped after ${written.done.length} of ${refs.length} groups; the same command goes on`);
    return EXIT.failed;
  }
  const { id } = await ports.caller();
  const manifest = await written.finish(id, new Date(ports.clock()).toISOString());
  out.answer({ folder, groups: groups.length, manifest }, () => {
    out.line(`${plural(groups.length, 'group')} written to ${file}`);
    out.line(`SHA-256 of manifest.json: ${manifest}; keep it apart from the folder`);
  });
  out.note(`next: groupsync evidence verify ${shellWords(file)}`);
  return EXIT.done;
}

const TITLES = ['group id', 'group name', 'platform id', 'member id', 'name'];
const FIELDS_OF_CHANGE = ['notBefore', 'notAfter', 'action', 'actor', 'approvedBy', 'because'] as const;
const OF_CHANGE = ['not before', 'not after', 'action', 'by', 'approved by', 'because'];

async function evidenceOf(
  ref: GroupRef,
  period: Period,
  ids: ReadonlySet<string> | undefined,
  context: Context,
): Promise<Parameters<ReturnType<typeof openEvidence>['add']>> {
  const ports = await context.ports();
  const isJournal = ref.group === '';
  const { knownSinceMs, access } = isJournal
    ? { knownSinceMs: undefined, access: [] }
    : await accessTo(ref, period, ports);
  const rows = access.filter(({ user }) => ids === undefined || ids.has(user));
  const isAbout = isJournal || ids === undefined || rows.length > 0;
  const pages = ports.audit.items(ref, period.sinceMs, period.untilMs);
  const items = isAbout ? await collectPages(pages) : [];
  const entries = isAbout ? await entriesSince(ports.audit.read(ref), period.sinceMs + 1) : [];
  const actions = entries.filter(({ actor, atMs }) => actor.kind === 'operator' && atMs <= period.untilMs);
  const header = isJournal
    ? [csvLine([...TITLES, ...['joined', 'left'].flatMap((what) => OF_CHANGE.map((of) => `${what} ${of}`))])]
    : [];
  const actionTitles = isJournal
    ? [csvLine(['time', 'by', 'action', 'group id', 'what', 'before', 'after', 'reason', 'outcome'])]
    : [];
  const group: EvidenceGroup = {
    group: ref.group,
    items: items.length,
    knownSince: knownSinceMs === undefined ? null : new Date(knownSinceMs).toISOString(),
    links: [...linksOf((await ports.audit.head(ref)) ?? {})],
  };
  return [
    group,
    {
      'access.csv': [...header, ...rows.map(accessLine)],
      'access.jsonl': rows.map((row) => JSON.stringify(row)),
      'actions.csv': [
        ...actionTitles,
        ...actions.flatMap((entry) =>
          entry.changes.map(({ kind, before, after, reason }) =>
            csvLine([
              new Date(entry.atMs).toISOString(),
              entry.actor.name ?? entry.actor.id,
              entry.action,
              entry.group ?? ref.group,
              kind,
              before ?? '',
              after ?? '',
              entry.reason ?? reason,
              entry.outcome,
            ]),
          ),
        ),
      ],
      'items.jsonl': items.map((item) => JSON.stringify(item)),
    },
  ];
}

const accessLine = ({ group, groupName, user, member, name, joined, left }: Access): string =>
  csvLine([group, groupName ?? '', user, member ?? '', name ?? '', ...cellsOf(joined), ...cellsOf(left)]);
const cellsOf = (change: AccessChange | null): readonly string[] =>
  FIELDS_OF_CHANGE.map((field) => change?.[field] ?? '');

async function verifyEvidence({ io, out }: Context, file: string): Promise<number> {
  const { manifest, changed, items } = await readEvidence(resolve(io.cwd, file));
  const { request, groups } = manifest;
  const connection = connectionName(request.connection);
  const period = { sinceMs: Date.parse(request.since), untilMs: Date.parse(request.until) };
  const lines = items[Symbol.asyncIterator]();
  const broken: AuditReport['broken'][number][] = [];
  // The entries of a changed file say nothing more.
  for (const { group, items: count } of changed.length === 0 ? groups : []) {
    const own: unknown[] = [];
    for (let at = 0; at < count; at += 1) {
      const json = parseJson(String((await lines.next()).value));
      if (json.ok) own.push(json.value);
    }
    const audit = openFolderAudit(own as Parameters<typeof openFolderAudit>[0]);
    const check = await verifyAudit(
      { connection, group: groupId(group) },
      { audit, clock: Date.now },
      period,
    );
    if (check.broken !== null) broken.push({ group: check.group, ...check.broken });
  }
  out.answer({ madeBy: manifest.madeBy, madeAt: manifest.madeAt, changed, broken }, () => {
    for (const { file: name, line } of changed)
      out.line(out.paint.red(line === null ? `${name}: changed` : `${name}: line ${line} is changed`));
    for (const { group, at, problem } of broken)
      out.line(out.paint.red(`${group ?? 'the connection'}: the entry of ${at} is ${problem}`));
    if (changed.length + broken.length === 0)
      out.line(
        `no file and no entry was changed: ${plural(groups.length - 1, 'group')}, ${request.since} to ${request.until}`,
      );
  });
  out.note(
    `this proves nothing against ${manifest.madeBy}, who made the folder; compare the SHA-256 of manifest.json with a copy, or the entries with the locked copy of the audit`,
  );
  return changed.length + broken.length === 0 ? EXIT.done : EXIT.attention;
}
