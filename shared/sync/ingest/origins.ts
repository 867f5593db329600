import { membersIn } from '../../domain/event.ts';
import type { ConnectionName, GroupId, MemberId } from '../../domain/ids.ts';
import type { AcceptedEvent } from './accept.ts';

/** The messages that must be received again if a group or a user could not be stored. */
export interface Origins {
  ofGroup(group: GroupId): Iterable<string>;
  ofUser(user: MemberId): Iterable<string>;
}

export function originsOf(accepted: readonly AcceptedEvent[], connection: ConnectionName): Origins {
  const groups = new Map<GroupId, Set<string>>();
  const users = new Map<MemberId, Set<string>>();
  for (const { event, messageId } of accepted) {
    if (event.connection !== connection) continue;
    const { change } = event;
    if ('group' in change) note(groups, change.group, messageId);
    for (const user of membersIn(change)) note(users, user, messageId);
  }
  return { ofGroup: (group) => groups.get(group) ?? [], ofUser: (user) => users.get(user) ?? [] };
}

function note<Id>(messagesById: Map<Id, Set<string>>, id: Id, messageId: string): void {
  const known = messagesById.get(id);
  if (known === undefined) messagesById.set(id, new Set([messageId]));
  else known.add(messageId);
}
