import { createDirectory } from '../shared/directory/operate/import.ts';
import { type ConnectionName, groupId } from '../shared/domain/ids.ts';
import { compareWithNow } from '../shared/operate/import/compare.ts';
import { importCsv } from '../shared/operate/import/import.ts';
import type { CsvRecord } from '../shared/operate/import/rows.ts';
import { planUndo } from '../shared/operate/import/undo.ts';
import { exportGroups } from '../shared/operate/members.ts';
import { ofOtherSources } from '../shared/operate/other-source.ts';
import type { EventSender } from '../shared/sync/ports/queues.ts';
import type { EnginePorts } from './engine.ts';
import { addressOf } from './messages.ts';
import type { OperatorAction } from './simulation-run.ts';

/* The commands `import`, `import --undo` and `undo`, as cli/commands/import.ts performs them. */

export interface Imported {
  /** The id that the output names; undefined if it names none. */
  readonly id: string | undefined;
  readonly sent: readonly string[];
  /** The id of the import that was undone. */
  readonly undoes?: string;
  /** The members that stay, or the users that do not return. */
  readonly named?: readonly string[];
}

interface Outcome {
  readonly answer: 'done' | 'nothing' | 'refused';
  readonly imported?: Imported;
}

export interface ImportSession {
  /** Returns a sender that also records the events of an import. */
  readonly recording: (events: EventSender) => EventSender;
  readonly lastImport: () => string;
}

interface On {
  readonly name: ConnectionName;
  readonly tool: EnginePorts;
  readonly session: ImportSession;
}
type ActionOf<Kind> = Extract<OperatorAction, { readonly kind: Kind }>;

type Records = Parameters<typeof importCsv>[0];
type Options = Pick<Parameters<typeof importCsv>[2], 'kind' | 'asOf'> &
  Pick<Parameters<typeof compareWithNow>[1], 'undoneSinceMs'>;

async function* recordsOf(rows: readonly (readonly string[])[]): AsyncGenerator<CsvRecord> {
  for (const [at, fields] of rows.entries()) yield { line: at + 1, fields };
}

/** @returns `nothing` if the import of an undo would change nothing */
async function sendRows(
  { name, tool, session }: On,
  records: Records,
  { kind = 'snapshot', asOf, undoneSinceMs }: Options,
  about: Pick<Imported, 'undoes' | 'named'> = {},
): Promise<Outcome> {
  const connection = await tool.connections.current(name);
  if (connection === undefined) return { answer: 'nothing' };
  const sent: string[] = [];
  const recorded = session.recording(tool.events);
  const send: typeof recorded.send = (messages) => {
    sent.push(...messages.map(({ body }) => JSON.parse(body).id));
    return recorded.send(messages);
  };
  const report = await importCsv(
    records,
    { ...tool, events: { send } },
    {
      connection: name,
      file: 'members.csv',
      dryRun: false,
      kind,
      asOf,
      directory: createDirectory(connection, tool),
      refuseStates: () => {
        throw new TypeError('expected no states');
      },
      compare: (rows, comparing) =>
        compareWithNow(rows, { ...comparing, kind, undoneSinceMs }, connection, tool),
      async confirm({ rows, comparison: { added = 0, removed = 0 } = {} }) {
        if (Symbol.asyncIterator in records) return true;
        return (undoneSinceMs === undefined ? rows : added + removed) > 0;
      },
    },
  );
  const answer = report.sent ? 'done' : 'nothing';
  return { answer, imported: { id: report.importId, sent, ...about } };
}

export function importMembers(on: On, { group, members, lists, ageMs }: ActionOf<'import'>) {
  const rows = members.map((member) => [group, member, addressOf(member, on.name) ?? '']);
  const header = ['group id', 'member id', 'email'];
  const asOf = new Date(on.tool.clock() - ageMs).toISOString();
  return sendRows(on, recordsOf([header, ...rows]), { kind: lists, asOf });
}

export async function undoImport(on: On): Promise<Outcome> {
  const undoes = on.session.lastImport();
  const { rows, stays, asOf } = await planUndo(on.name, undoes, on.tool);
  const named = stays.map(({ member }) => member);
  return sendRows(on, rows, { asOf }, { undoes, named });
}

export async function undoTo(on: On, action: ActionOf<'undo'>): Promise<Outcome> {
  const { name, tool } = on;
  const ref = { connection: name, group: groupId(action.group) };
  const connection = await tool.connections.current(name);
  const [other] = await ofOtherSources({ name }, [ref.group], tool);
  if (connection === undefined || other?.source === 'directory') return { answer: 'refused' };
  const atMs = tool.clock() - action.agoMs;
  const { groups } = await exportGroups([ref], { connection, ports: tool }, atMs);
  const [past] = groups;
  if (past === undefined) return { answer: 'refused' };
  const { group, members, unresolved } = past;
  const rows = members.map(({ id }) => ({ line: 0, group, name: past.name, member: id, email: '' }));
  const named = unresolved.map(({ user }) => user);
  return sendRows(on, rows, { asOf: undefined, undoneSinceMs: atMs }, { named });
}
