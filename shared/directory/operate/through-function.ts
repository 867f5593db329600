import type { DirectorySetting } from '../../contract/directory-settings.ts';
import { DirectoryReplies, type DirectoryReply } from '../../contract/invocation.ts';
import type { GroupId } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type Directory, DirectoryError, type DirectoryMember } from '../ports.ts';

export type ShownDirectory = Pick<Directory, 'groups' | 'group' | 'membersOf'>;

const GROUPS_AT_ONCE = 100;

type Members = NonNullable<DirectoryReply['members']>[number];

interface Asking {
  readonly connection: Pick<Connection, 'name'>;
  /** The directory to query; undefined: the directory that the connection reads. */
  readonly setting?: DirectorySetting | undefined;
  readonly functions: ToolPorts['functions'];
  readonly clock: () => number;
}

/**
 * Returns a directory that the deployed function reads, because only its role can sign in. A comparison reads the
 * groups in the order of the list, so each question also requests the members of the next groups.
 */
export function directoryThroughFunction({ connection, setting, functions, clock }: Asking): ShownDirectory {
  const order: GroupId[] = [];
  const known = new Map<GroupId, Members>();
  const ask = async (question: object): Promise<DirectoryReply> => {
    const event = { connection: connection.name, ask: { question, setting } };
    const [reply] = DirectoryReplies.parse(await functions.run('directory', event)).reports;
    refuse(reply.failure);
    return reply;
  };
  const membersFrom = async (group: GroupId, from: number): Promise<Members> => {
    const ready = known.get(group);
    if (from === 0 && ready !== undefined) {
      known.delete(group);
      return ready;
    }
    const place = order.indexOf(group);
    const following = place === -1 || from > 0 ? [] : order.slice(place + 1, place + GROUPS_AT_ONCE);
    const { members = [] } = await ask({ membersOf: [group, ...following], from });
    const [first, ...others] = members;
    if (first === undefined)
      throw new Error(`function directory: expected the members of ${group}, got none`);
    for (const other of others) known.set(other.group, other);
    return first;
  };
  return {
    async *groups() {
      for (let from: number | undefined = 0; from !== undefined; ) {
        const asOfMs = clock();
        const { groups = [], next }: DirectoryReply = await ask({ groups: from });
        order.push(...groups.map(({ id }) => id));
        yield { items: groups.map(({ userCount, ...group }) => ({ ...group, userCount })), asOfMs };
        from = next;
      }
    },
    async group(key) {
      const { groups: [found] = [] } = await ask({ group: key });
      return found && { ...found, userCount: found.userCount };
    },
    async *membersOf(group) {
      for (let from: number | undefined = 0; from !== undefined; ) {
        const asOfMs = clock();
        const { members, next, failure }: Members = await membersFrom(group, from);
        refuse(failure);
        yield { items: members as readonly DirectoryMember[], asOfMs };
        from = next;
      }
    },
  };
}

function refuse(failure: DirectoryReply['failure']): void {
  if (failure === undefined) return;
  throw new DirectoryError(failure.kind, failure.message, { reason: failure.reason });
}
