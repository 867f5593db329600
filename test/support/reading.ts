import { type EventMember, NATIVE_KINDS } from '../../simulate/messages.ts';
import { instantOf, type ReadGroup, type Received, readAll } from '../../simulate/reading.ts';

/* Reads native events with the reference model of the simulation, for tests that do not run the simulation. */

export interface ReadDirectory {
  readonly groups: ReadonlyMap<string, Pick<ReadGroup, 'name' | 'members'>>;
  readonly emails: ReadonlyMap<string, string>;
}

export interface RawEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  time: string;
  sequence?: string;
  connection?: string;
  data: {
    group?: { id: string; name?: string | null };
    user?: EventMember;
    members?: EventMember[];
    part?: { snapshotId: string; index: number; count: number };
  };
}

/** Reads JSON lines or parsed events of one connection, in any order and with repetitions. */
export function readDirectory(input: string | readonly RawEvent[], connection = 'default'): ReadDirectory {
  const all = typeof input === 'string' ? parseLines(input) : input;
  const ours = all.filter((event) => (event.connection ?? 'default') === connection);
  const { groups, emails } = readAll(ours.map(heardOf));
  return { groups: new Map([...groups].map(([id, { name, members }]) => [id, { name, members }])), emails };
}

export const parseLines = (jsonl: string): RawEvent[] =>
  jsonl
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): RawEvent => JSON.parse(line));

function heardOf({ id, source, type, time, sequence, data }: RawEvent): Received {
  const { group, user, members = [], part } = data;
  const kind = NATIVE_KINDS.get(type);
  if (kind === undefined) throw new Error(`expected a type of native events, got ${type}`);
  return {
    directoryEvent: {
      kind,
      ...(group !== undefined && { group: group.id, name: group.name ?? null }),
      members: user === undefined ? members : [user],
      ...(part !== undefined && { part }),
    },
    instant: instantOf(time),
    sequence: BigInt(sequence ?? -1),
    id,
    source,
    arrivedAtMs: 0,
  };
}
