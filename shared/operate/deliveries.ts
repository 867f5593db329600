import type { DeliveryReport, DeliveryRow, SentEvents } from '../contract/answers/deliveries.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';

type DeliveriesPorts = Pick<ToolPorts, 'deliveries' | 'clock'>;

export interface DeliveryFilter {
  readonly sinceMs?: number | undefined;
  readonly groups?: ReadonlySet<string> | undefined;
  readonly members?: ReadonlySet<string> | undefined;
  readonly status?: string | undefined;
  readonly client?: string | undefined;
  /** The id of an event that a change names as its cause. The search then begins with the oldest deliveries. */
  readonly event?: string | undefined;
  readonly limit: number;
}

const MAX_READ = 5_000;
const MAX_READ_FOR_EVENT = 50_000;

export async function readDeliveries(
  connection: ConnectionName,
  filter: DeliveryFilter,
  ports: DeliveriesPorts,
): Promise<DeliveryReport> {
  const { event, sinceMs = 0 } = filter;
  const newestFirst = event === undefined;
  const mostRead = newestFirst ? MAX_READ : MAX_READ_FOR_EVENT;
  const found: Delivery[] = [];
  let read = 0;
  for await (const page of ports.deliveries.since(connection, sinceMs, {
    nowMs: ports.clock(),
    newestFirst,
  })) {
    found.push(...page.filter((one) => matches(one, filter)));
    read += page.length;
    if (found.length > filter.limit || read >= mostRead) break;
  }
  const isCut = found.length > filter.limit || read >= mostRead;
  const shown = found.slice(0, filter.limit).map(rowOf);
  return { deliveries: newestFirst ? shown.reverse() : shown, complete: !isCut };
}

function matches(one: Delivery, { groups, members, status, client, event }: DeliveryFilter): boolean {
  const answers: readonly unknown[] = [one.outcome, String(one.status), one.code];
  return (
    (groups === undefined || one.groups.some((id) => groups.has(id))) &&
    (members === undefined || one.members.some((id) => members.has(id))) &&
    (status === undefined || answers.includes(status)) &&
    (client === undefined || one.client.kind === client || one.client.id.includes(client)) &&
    (event === undefined || isOf(rowOf(one), event))
  );
}

/** Returns whether a delivery contained the event. The id of an event of the reader begins with the time of its read. */
export const isOf = ({ client, at, elapsedMs, events }: SentEvents, event: string): boolean => {
  if (client.kind !== 'reader') return events.includes(event);
  const sinceMs = Number.parseInt(event.slice(0, 12), 16) - Date.parse(at);
  return sinceMs >= 0 && sinceMs <= elapsedMs;
};

const rowOf = ({ atMs, ...one }: Delivery): DeliveryRow => ({ ...one, at: new Date(atMs).toISOString() });
