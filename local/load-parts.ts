import { handler as apply } from '../functions/apply.ts';
import { handler as ingest } from '../functions/ingest.ts';
import { handler as people } from '../functions/people.ts';
import { handler as reconcile } from '../functions/reconcile.ts';
import { reportGroups } from '../shared/operate/report.ts';
import { wireLocalStack } from '../shared/runtime/wire-platform.ts';
import { wireScim } from '../shared/runtime/wire-scim.ts';
import { wakeUpFields } from '../shared/store/group-writes.ts';
import { connectionKey, groupKey } from '../shared/store/keys.ts';
import { countGroups } from './group-counts.ts';
import type { LocalFunction } from './invocation.ts';
import type { StackParts } from './parts.ts';
import { startScim } from './scim-endpoint.ts';
import { endWindow } from './windows.ts';

/** Loads the deployed handlers, and the shared code that the local stack itself calls. */
export async function loadParts(): Promise<StackParts> {
  const { ports } = wireLocalStack();
  return {
    handlers: {
      ingest: ingest as LocalFunction['handler'],
      apply: apply as LocalFunction['handler'],
      reconcile,
      people,
    },
    // This module is loaded only if the stack reads a directory.
    directory: async (event, context) => (await import('../functions/directory.ts')).handler(event, context),
    putConnection: async (connection) => {
      const known = await ports.connections.find(connection.name);
      await ports.connections.save({
        ...connection,
        observing: known?.observing ?? false,
        connectedMs: known?.connectedMs ?? ports.clock(),
        blocks: known?.blocks ?? [],
      });
    },
    countGroups: (connection) => countGroups(connection, ports),
    readGroups: (connection) => reportGroups(connection, ports),
    endWindow: (wakeUp) => endWindow(wakeUp, ports),
    startScim: (connection) => startScim({ port: 0, connection }, wireScim()),
    endPreviousWork: async (connection) => {
      const { pk } = connectionKey(connection);
      for await (const leases of ports.table.query({ partition: pk, prefix: 'LEASE#' })) {
        // The leases are ended and not deleted. A new lease would start with token 1, but the stores refuse tokens that
        // are lower than an earlier token.
        for (const { pk, sk } of leases) await ports.table.update({ pk, sk }, { remove: ['untilMs'] });
      }
      for await (const groups of ports.index.all(connection)) {
        for (const { ref } of groups.filter(({ dirtySinceMs }) => dirtySinceMs !== undefined)) {
          const { intent } = (await ports.groups.read(ref)) ?? {};
          const set = { ...wakeUpFields(ref, 0), ...(intent && { releasedIntent: intent.id }) };
          await ports.table.update(groupKey(ref), { set });
        }
      }
    },
  };
}
