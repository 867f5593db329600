import { randomBytes } from 'node:crypto';
import { createSimulator, type Simulator } from './platform/simulator.ts';
import { JournalError } from './platform/state/journal.ts';
import { WorldError, type WorldInput } from './platform/state/world.ts';
import { UsageError } from './usage.ts';

interface OpenPlatform {
  readonly url: string;
  /** The token of the world's first OAuth application. The connection uses this token. */
  readonly token: string;
  readonly company: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts the platform simulator for the stack.
 * @param options.dataFile file of the platform's state; existing state takes precedence over `world`
 * @throws UsageError if the world or the data file cannot be used
 */
export async function openPlatform(options: {
  world: WorldInput;
  dataFile: string | undefined;
  port: number;
}): Promise<OpenPlatform> {
  const simulator = create(options);
  try {
    const credential = simulator.credentials.find(({ kind }) => kind === 'oauth_app');
    if (credential === undefined) {
      throw new UsageError('--world: expected a credential of kind oauth_app for the connection, got none');
    }
    const { url } = await simulator.listen({ port: options.port });
    return { url, token: credential.token, company: credential.company, close: () => simulator.close() };
  } catch (error) {
    await simulator.close();
    throw error;
  }
}

function create({ world, dataFile }: { world: WorldInput; dataFile: string | undefined }): Simulator {
  try {
    return createSimulator({
      world,
      dataFile,
      clock: Date.now,
      newId: () => randomBytes(12).toString('hex'),
      onDefect: (error) => console.error(error),
    });
  } catch (error) {
    if (error instanceof WorldError) throw new UsageError(`--world: ${error.message}`, { cause: error });
    if (error instanceof JournalError) throw new UsageError(`--data: ${error.message}`, { cause: error });
    throw error;
  }
}
