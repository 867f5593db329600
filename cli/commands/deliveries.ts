import type { Command } from 'commander';
import type { DeliveryReport, DeliveryRow } from '../../shared/contract/answers/deliveries.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { type DeliveryFilter, readDeliveries } from '../../shared/operate/deliveries.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { type Names, undefinedIfNoMatch } from '../../shared/operate/names.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import type { Column } from '../output/table.ts';
import { shellWords } from '../output/words.ts';
import { examples, moment, wholeNumber } from './arguments.ts';
import { POLL_MS } from './log.ts';

interface DeliveryOptions extends Pick<DeliveryFilter, 'status' | 'client' | 'event' | 'limit'> {
  readonly group?: string;
  readonly member?: string;
  readonly since?: string;
  readonly follow?: boolean;
}

export function addDeliveries(program: Command, act: Act): void {
  program
    .command('deliveries')
    .description('show what the identity provider sent and how groupsync answered, newest last, for 30 days')
    .option('--group <group>', 'only deliveries that name this group: id, name, or a prefix')
    .option('--member <member>', 'only deliveries that name this member: id, address or name')
    .option('--status <status>', 'only this outcome, HTTP status or code, such as refused, 404 or uniqueness')
    .option('--client <text>', 'only this client: scim, event, reader, or a part of a token prefix or source')
    .option('--event <id>', 'the first deliveries of this event, which log --details names')
    .option('--since <time>', 'an ISO time, "yesterday 14:00" or "2h ago"')
    .option('--limit <n>', 'maximum number of deliveries', wholeNumber, 50)
    .option('--follow', 'wait for new deliveries; with --json one per line')
    .addHelpText(...examples('deliveries --status refused --since 2h', 'deliveries --group 00g1'))
    .action(act(showDeliveries));
}

const NONE =
  'no deliveries in the last 30 days. They arrive as SCIM requests, as messages of the events queue, or as runs of the directory reader';

async function showDeliveries(context: Context, options: DeliveryOptions): Promise<number> {
  const { out, connection, io } = context;
  const { ports } = await context.connected();
  const { since, follow = false, status, client, event, limit } = options;
  const { group, member } = await idsIn(context, options);
  const filter: DeliveryFilter = {
    status,
    client,
    event,
    limit,
    sinceMs: since === undefined ? undefined : moment(since, ports.clock()),
    groups: group === undefined ? undefined : new Set([group]),
    members: member === undefined ? undefined : new Set([member]),
  };
  const found = await readDeliveries(connection, filter, ports);
  await recordRead(connection, { what: 'deliveries', group, id: member }, ports);
  if (!follow) return showOnce(context, found, options);
  // A message that is received again replaces its record, so its new outcome is printed too.
  const seen = new Set<string>();
  for (let { deliveries } = found; ; ) {
    const fresh = deliveries.filter(({ id, outcome }) => seen.size < seen.add(`${id} ${outcome}`).size);
    const names = await namesIn(context, fresh);
    for (const one of fresh) out.entry(one, (shown) => lineOf(shown, names));
    await ports.sleep(POLL_MS, io.signal).catch(() => undefined);
    if (io.signal.aborted) return EXIT.done;
    ({ deliveries } = await readDeliveries(connection, filter, ports));
  }
}

async function showOnce(context: Context, found: DeliveryReport, { limit, event }: DeliveryOptions) {
  const { out, connection } = context;
  const names = await namesIn(context, found.deliveries);
  if (!found.complete) out.note(`showing at most ${limit} deliveries (--limit); older deliveries may match`);
  out.answer(found, ({ deliveries }) => {
    if (out.csv) out.table(deliveries, columnsOf(names));
    else for (const one of deliveries) out.line(lineOf(one, names));
  });
  const { client, outcome } = found.deliveries.at(-1) ?? {};
  if (client?.kind === 'event' && outcome === 'refused') out.note('next: groupsync dlq list');
  const [id = event] = found.deliveries.flatMap(({ events }) => events).slice(-1);
  if (id !== undefined) out.note(`next: groupsync log --event ${shellWords(id)} --details`);
  if (found.deliveries.length > 0) return EXIT.done;
  const { deliveries } = await readDeliveries(connection, { limit: 1 }, await context.ports());
  out.note(deliveries.length > 0 ? 'no deliveries match' : NONE);
  if (deliveries.length === 0) out.note('next: groupsync doctor');
  return EXIT.done;
}

const namesIn = ({ names }: Context, deliveries: readonly DeliveryRow[]): Promise<Names> =>
  names({
    groups: deliveries.flatMap(({ groups }) => groups),
    members: deliveries.flatMap(({ members }) => members),
  });

async function idsIn({ group, member }: Context, options: DeliveryOptions) {
  const [ref, id] = await Promise.all([
    options.group === undefined ? undefined : group(options.group).catch(undefinedIfNoMatch),
    options.member === undefined ? undefined : member(options.member).catch(undefinedIfNoMatch),
  ]);
  const named = options.group === undefined ? undefined : groupId(options.group);
  return { group: ref?.group ?? named, member: id ?? options.member };
}

/** The columns of the CSV. A line has the same values, without the last two. */
function columnsOf(names: Names, mostIds = Number.POSITIVE_INFINITY): readonly Column<DeliveryRow>[] {
  const idsOf = ({ groups, members, named }: DeliveryRow) => {
    const shown = [...groups.map(names.group), ...members.map(names.member)].slice(0, mostIds);
    return [...shown, ...(named > shown.length ? [`… ${named - shown.length} more`] : [])].join(', ');
  };
  return [
    { title: 'time', of: ({ at }) => at },
    { title: 'client', of: ({ client }) => `${client.kind} ${client.id}` },
    { title: 'request', of: ({ request }) => request },
    { title: 'summary', of: ({ summary }) => summary },
    { title: 'filter', of: ({ filter: by }) => by && `${by.attribute} ${by.operator} #${by.hash}` },
    { title: 'named', of: idsOf },
    { title: 'events', of: ({ events }) => events.slice(0, mostIds).join(', ') },
    { title: 'answer', of: ({ outcome, status, code }) => [outcome, status, code].filter(Boolean).join(' ') },
    { title: 'detail', of: ({ detail }) => detail },
    { title: 'bytes', of: ({ bytes }) => bytes },
    { title: 'duration ms', of: ({ elapsedMs }) => elapsedMs },
  ];
}

const IDS_IN_LINE = 3;

const lineOf = (row: DeliveryRow, names: Names): string =>
  columnsOf(names, IDS_IN_LINE)
    .slice(0, -2)
    .flatMap(({ of }) => of(row) || [])
    .join('  ');
