import { createHandle } from '../../../console/server/handle.ts';
import type { SignedInPerson } from '../../../console/server/roles.ts';
import type { ToolPorts } from '../../../shared/sync/ports/bundles.ts';

/**
 * Returns a function that sends a query or an action to the server and parses the answer. The query `live` ends after
 * its first answer.
 * @param connection undefined: all connections
 */
export function asking(ports: ToolPorts, connection?: string, person?: SignedInPerson) {
  const formatCommands = (text: string, of: string) => `${text} for ${of}`;
  const describe = ({ message }: never) => `groupsync connect: ${message}`;
  const handle = createHandle({ prefix: 'p', ports, describe, formatCommands, pollMs: 1 } as never);
  return async (name: string, input?: object) => {
    const init = input && { method: 'POST', body: JSON.stringify(input) };
    const address = new URL(`http://page.test/api/${name}`);
    if (connection !== undefined) address.searchParams.set('connection', connection);
    const request = new Request(address, init);
    const text = await (await handle(request, person)).text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every form
    return JSON.parse(text.replace(/^retry: 1\ndata: /, '')) as any;
  };
}
