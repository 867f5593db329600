import { HOUR_MS } from '../../shared/domain/duration.ts';
import { memberId } from '../../shared/domain/ids.ts';
import { MAX_AHEAD_MS } from '../../shared/domain/stamp.ts';
import { readDeliveries } from '../../shared/operate/deliveries.ts';
import type { RequestContext } from './context.ts';
import { findPeople, nameOf } from './people.ts';

const SHOWN = 200;

/** Returns the newest matching deliveries, newest first, with names. */
export async function deliveriesPage(query: URLSearchParams, context: RequestContext) {
  const { connection, ports, overview } = context;
  const text = (name: string) => query.get(name) || undefined;
  const hours = Number(text('span') ?? 0);
  const from = Date.parse(text('from') ?? '') - MAX_AHEAD_MS;
  const spanMs = hours > 0 ? ports.clock() - hours * HOUR_MS : undefined;
  const [group, member] = [text('group'), text('member')];
  const filter = {
    groups: group === undefined ? undefined : await groupsLike(group, context),
    members: member === undefined ? undefined : await membersLike(member, context),
    status: text('status'),
    client: text('client'),
    event: text('event'),
    sinceMs: Number.isNaN(from) ? spanMs : from,
    limit: SHOWN,
  };
  const { deliveries, complete } = await readDeliveries(connection, filter, ports);
  const users = await ports.users.read(
    connection,
    deliveries.flatMap(({ members }) => members.map(memberId)),
  );
  const groups = new Map<string, string | null>();
  for (const id of new Set(deliveries.flatMap((one) => one.groups)))
    groups.set(id, await overview.nameOf(id));
  const isAny =
    deliveries.length > 0 || (await readDeliveries(connection, { limit: 1 }, ports)).deliveries.length > 0;
  return {
    deliveries: deliveries.toReversed().map(({ members, ...one }) => ({
      ...one,
      groups: one.groups.map((id) => ({ id, name: groups.get(id) ?? null })),
      people: members.map((id) => nameOf(id, users.get(memberId(id)))),
    })),
    complete,
    /** False if there are no deliveries at all. */
    isAny,
  };
}

/** The given text itself is an id too, because only a delivery may name it. */
async function groupsLike(text: string, { overview }: RequestContext): Promise<ReadonlySet<string>> {
  const { rows } = await overview.groups({ text, state: undefined, sort: 'name', from: 0, count: MAX_LIKE });
  return new Set([text, ...rows.map(({ id }) => id)]);
}

async function membersLike(text: string, context: RequestContext): Promise<ReadonlySet<string>> {
  const { connection, overview, ports } = context;
  return new Set([
    text,
    ...(await findPeople(connection, text, overview.allMembers, ports)).map(({ id }) => id),
  ]);
}

const MAX_LIKE = 1_000;
