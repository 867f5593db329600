import type { DeliveryReport, DeliveryRow } from '../contract/answers/deliveries.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';

type DeliveriesPorts = Pick<ToolPorts, 'deliveries' | 'clock'>;

/** Selects deliveries. A delivery must match each field that is set. */
export interface DeliveryFilter {
  readonly sinceMs?: number | undefined;
  /** The ids of groups; a delivery must name one of them. */
  readonly groups?: ReadonlySet<string> | undefined;
  readonly members?: ReadonlySet<string> | undefined;
  /** An outcome, an HTTP status, or a code. */
  readonly status?: string | undefined;
  /** The kind of a client, or a part of its id. */
  readonly client?: string | undefined;
  readonly limit: number;
}

const MAX_READ = 5_000;

/** Returns the newest matching deliveries, newest last. */
export async function readDeliveries(
  connection: ConnectionName,
  filter: DeliveryFilter,
  ports: DeliveriesPorts,
): Promise<DeliveryReport> {
  const found: Delivery[] = [];
  let read = 0;
  for await (const page of ports.deliveries.since(connection, filter.sinceMs ?? 0, ports.clock())) {
    found.push(...page.filter((one) => matches(one, filter)));
    read += page.length;
    if (found.length > filter.limit || read >= MAX_READ) break;
  }
  const isCut = found.length > filter.limit || read >= MAX_READ;
  return { deliveries: found.slice(0, filter.limit).toReversed().map(rowOf), complete: !isCut };
}

function matches(one: Delivery, { groups, members, status, client }: DeliveryFilter): boolean {
  const answers: readonly unknown[] = [one.outcome, String(one.status), one.code];
  return (
    (groups === undefined || one.groups.some((id) => groups.has(id))) &&
    (members === undefined || one.members.some((id) => members.has(id))) &&
    (status === undefined || answers.includes(status)) &&
    (client === undefined || one.client.kind === client || one.client.id.includes(client))
  );
}

const rowOf = ({ atMs, ...one }: Delivery): DeliveryRow => ({ ...one, at: new Date(atMs).toISOString() });
