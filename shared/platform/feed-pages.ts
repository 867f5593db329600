import { NOBODY_KNOWN } from '../domain/drift.ts';
import { platformGroupId } from '../domain/ids.ts';
import type { FeedStart } from '../sync/ports/platform.ts';
import type { FeedEvent, FeedPage } from '../sync/ports/reconcile.ts';
import type { GroupClient } from './group-client.ts';
import { type Calling, calling } from './platform-failure.ts';
import type { ActivityEvent } from './schemas/activity.ts';

/** The feed as reconcile wants it: which groups were touched, by whom. An unknown event type is data, never an error. */
export async function* feedPages(
  client: GroupClient,
  start: FeedStart,
  call: Calling,
): AsyncGenerator<FeedPage> {
  for await (const { events, next, done } of calling(client.activity.follow(start), call)) {
    yield { events: events.map(eventOf), next, done };
  }
}

function eventOf({ id, timestamp, subjects, initiator, event_type: type }: ActivityEvent): FeedEvent {
  return {
    id,
    at: timestamp ?? null,
    initiator: initiator?.type ?? NOBODY_KNOWN,
    type: type ?? '',
    ...actorOf(initiator),
    groups: (subjects ?? []).flatMap(({ type, instance }) =>
      type === 'GROUP' && typeof instance === 'string' ? [platformGroupId(instance)] : [],
    ),
  };
}

const LONGEST_NAME = 200;

function actorOf(initiator: ActivityEvent['initiator']): Pick<FeedEvent, 'actor'> {
  const [role, name] = [initiator?.role, initiator?.display_name].map(
    (text) => text?.slice(0, LONGEST_NAME) || null,
  );
  return role || name ? { actor: { role: role ?? null, name: name ?? null } } : {};
}
