import { type ReadOfPeople, recordRead } from '../../shared/operate/journal.ts';
import { findGroup } from '../../shared/operate/names.ts';
import type { RequestContext } from './context.ts';

/** The queries that are recorded as reads of data of people, by the last part of the path. */
const READS: Readonly<Record<string, readonly [what: ReadOfPeople['what'], id?: string]>> = {
  activity: ['activity'],
  deliveries: ['deliveries'],
  deadLetter: ['message', 'id'],
  explain: ['person', 'member'],
  group: ['members'],
  hold: ['hold'],
  past: ['members'],
  people: ['search'],
  unmatched: ['pending'],
  person: ['person', 'member'],
  plan: ['plan'],
};

/** An open page repeats its queries. Within this time, a repeated read is not recorded again. */
const AGAIN_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;

/** Returns a function that records a query of a person, if it is in `READS`. */
export function createReadLog() {
  const known = new Map<string, number>();
  return async (name: string, query: URLSearchParams, reader: string, context: RequestContext) => {
    const [what, idName] = (Object.hasOwn(READS, name) ? READS[name] : undefined) ?? [];
    if (what === undefined) return;
    const { connection, ports } = context;
    const [text, id] = [query.get('group'), idName && query.get(idName)];
    const key = JSON.stringify([reader, connection, what, text, id]);
    const nowMs = ports.clock();
    if (nowMs < (known.get(key) ?? 0)) return;
    const group = text === null ? undefined : (await findGroup(connection, text, ports)).group;
    await recordRead(connection, { what, group, id: id ?? undefined }, ports);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, nowMs + AGAIN_MS);
  };
}
