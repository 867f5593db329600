import type { ConnectionName } from '../domain/ids.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { listClients } from '../sync/scim/clients.ts';
import { listTokens } from '../sync/scim/tokens.ts';
import { readMailbox } from './dead-letters/read-mailbox.ts';
import { listHolds } from './holds.ts';
import { readableConnections } from './settings.ts';

type Ids = (ports: ToolPorts, connection: ConnectionName) => Promise<readonly (string | undefined)[]>;

const named = (groups: readonly { readonly id: string; readonly name?: string | undefined }[]) =>
  groups.flatMap(({ id, name }) => [id, name]);

/** Returns the completions that a shell offers, by the name of the argument. */
export const COMPLETIONS = {
  connection: async ({ connections }) => (await readableConnections(connections)).map(({ name }) => name),
  async group({ index }, connection) {
    const all = await collectPages(index.all(connection));
    return named(all.map(({ ref, name }) => ({ id: ref.group, name })));
  },
  async hold(ports, connection) {
    const held = await listHolds(connection, ports);
    const states = await ports.groups.readMany(held.map(({ group }) => ({ connection, group })));
    return named(states.map(({ ref, registers }) => ({ id: ref.group, name: registers.name?.value })));
  },
  /** Reads only the first messages: a shell needs a quick answer, and a read hides messages from other consumers. */
  async letter({ mailboxes, clock }) {
    const ids: string[] = [];
    for (const mailbox of Object.values(mailboxes))
      if ((await mailbox.counts()).visible > 0)
        await readMailbox(mailbox, { clock, patienceSeconds: 0 }, async (messages) => {
          ids.push(...messages.map(({ id }) => id));
          return false;
        });
    return ids;
  },
  token: async (ports, connection) => (await listTokens(connection, ports)).map(({ prefix }) => prefix),
  client: async (ports, connection) => (await listClients(connection, ports)).map(({ id }) => id),
} satisfies Readonly<Record<string, Ids>>;

export type Completable = keyof typeof COMPLETIONS;
