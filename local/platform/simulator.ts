import type { FastifyInstance } from 'fastify';
import { createFaults } from './controls/faults.ts';
import { JSON_TYPE } from './controls/hooks.ts';
import { createRequestLog } from './controls/request-log.ts';
import { DEFAULT_SETTINGS } from './controls/settings.ts';
import { ENDPOINTS } from './endpoints.ts';
import { openApiDocument } from './openapi.ts';
import { overviewPage } from './overview-page.ts';
import { createServer } from './server.ts';
import type { NewId } from './state/from-world.ts';
import type { Credential } from './state/state.ts';
import { openStore } from './state/store.ts';
import { worldFromState } from './state/to-world.ts';
import { parseWorld, type World, type WorldInput } from './state/world.ts';

interface SimulatorOptions {
  /** The platform's state at the first start and after a reset. */
  readonly world: WorldInput;
  /** The file that keeps the state between starts. State in this file takes precedence over `world`. */
  readonly dataFile?: string | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a new id or version. All results are different. */
  readonly newId: NewId;
  /** Receives the errors that are defects of the simulator. */
  readonly onDefect?: ((error: unknown) => void) | undefined;
}

export interface Simulator {
  /** The server, for requests without a socket (`app.inject`). */
  readonly app: FastifyInstance;
  readonly credentials: readonly Credential[];
  world(): World;
  /** Listens on 127.0.0.1 only. Port 0 selects a free port. */
  listen(options?: { port?: number }): Promise<{ url: string; port: number }>;
  close(): Promise<void>;
}

/**
 * Creates a simulated Workforce Platform.
 * @throws {WorldError} for an invalid world
 * @throws {JournalError} for a data file that cannot be used
 */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { clock, newId } = options;
  const store = openStore({ world: parseWorld(options.world), dataFile: options.dataFile, newId });
  const faults = createFaults();
  const log = createRequestLog();
  let settings = DEFAULT_SETTINGS;
  const app = createServer(ENDPOINTS, {
    simulation: { store, settings: () => settings, clock, newId },
    faults,
    log,
    changeSettings: (changed) => {
      settings = changed;
    },
    reset: () => {
      store.reset();
      faults.add([]);
      log.clear();
      settings = DEFAULT_SETTINGS;
    },
    onDefect: options.onDefect ?? (() => {}),
  });
  app.get('/openapi.json', (_, reply) =>
    reply.type(JSON_TYPE).send(JSON.stringify(openApiDocument(ENDPOINTS))),
  );
  app.get('/', (_, reply) => reply.type('text/html; charset=utf-8').send(overviewPage(ENDPOINTS)));
  return {
    app,
    get credentials() {
      return [...store.state.credentials.values()];
    },
    world: () => worldFromState(store.state),
    listen: async ({ port = 0 } = {}) => {
      const url = await app.listen({ host: '127.0.0.1', port });
      return { url, port: Number(new URL(url).port) };
    },
    close: async () => {
      await app.close();
      store.close();
    },
  };
}
