import { grouped } from '../../domain/grouped.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import type { ReaderStore } from '../ports/bundles.ts';
import type { Acceptance, AcceptedEvent, Failures } from './accept.ts';

export interface OwnedPorts {
  readonly reader: Pick<ReaderStore, 'owned' | 'notePushed'>;
  readonly clock: () => number;
}

/**
 * Returns the events that must be stored. A group has one source. If the directory reader is the source of a group,
 * events of other producers are not stored, and only make the reader read the group. If the reader uses another id for
 * the group, the event is stored too, under the group id of the event. This second group is released, so it is not
 * written to the platform. But it is up to date, in case its producer becomes the source again. Events of the reader
 * itself are always stored, because they can only come from the reader's own queue.
 */
export async function withoutOwned(
  { accepted, connections }: Pick<Acceptance, 'accepted' | 'connections'>,
  ports: OwnedPorts,
  failures: Failures,
): Promise<readonly AcceptedEvent[]> {
  const left = new Set<AcceptedEvent>();
  for (const [name, events] of byConnection(accepted)) {
    const { directory = null } = connections.get(name)?.settings ?? {};
    if (directory === null) continue;
    try {
      for (const one of await takenByReader(name, events, ports)) left.add(one);
    } catch (cause) {
      const messages = events.map(({ messageId }) => messageId);
      failures.add(cause, messages);
      for (const one of events) left.add(one);
    }
  }
  return left.size === 0 ? accepted : accepted.filter((one) => !left.has(one));
}

/**
 * Makes the reader read its own groups among the groups of these events.
 * @returns the events whose group belongs to the reader under the same id
 */
async function takenByReader(name: ConnectionName, events: readonly AcceptedEvent[], ports: OwnedPorts) {
  const owned = await askOwner(name, new Set(events.flatMap((one) => groupIn(one) ?? [])), ports);
  return events.filter((one) => {
    const group = groupIn(one) as GroupId;
    return owned.get(group) === group;
  });
}

/** Makes the reader read its own groups among these groups. Returns them, as `owned` does. */
export async function askOwner(name: ConnectionName, groups: ReadonlySet<GroupId>, ports: OwnedPorts) {
  const owned = await ports.reader.owned(name, [...groups]);
  const asked = [...new Set(owned.values())];
  await Promise.all(asked.map((group) => ports.reader.notePushed(name, group, ports.clock())));
  return owned;
}

const groupIn = ({ event: { change } }: AcceptedEvent): GroupId | undefined =>
  'group' in change ? change.group : undefined;

const byConnection = (events: readonly AcceptedEvent[]) =>
  grouped(events, (one) => {
    const { connection, source } = one.event;
    return groupIn(one) === undefined || source === READER_SOURCE ? undefined : connection;
  });
