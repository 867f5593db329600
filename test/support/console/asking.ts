import { createHandle } from '../../../console/server/handle.ts';
import type { ToolPorts } from '../../../shared/sync/ports/bundles.ts';

/** Returns a function that sends a query or an action to the server and parses the answer. */
export function asking(ports: ToolPorts, connection: string) {
  const formatCommands = (text: string, of: string) => `${text} for ${of}`;
  const describe = ({ message }: never) => `groupsync connect: ${message}`;
  const handle = createHandle({ prefix: 'p', ports, describe, formatCommands } as never);
  return async (name: string, input?: object) => {
    const init = input && { method: 'POST', body: JSON.stringify(input) };
    const address = new URL(`http://page.test/api/${name}`);
    address.searchParams.set('connection', connection);
    const request = new Request(address, init);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every form
    return (await handle(request)).json() as any;
  };
}
