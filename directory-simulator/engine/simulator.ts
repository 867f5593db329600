import type { FastifyInstance } from 'fastify';
import { createFaults } from '../../local/platform/controls/faults.ts';
import { createRequestLog } from '../../local/platform/controls/request-log.ts';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import { registerControls } from './controls.ts';
import type { Dialect, OpenDialect } from './dialect.ts';
import { createPageTokens } from './page-tokens.ts';
import { createServer } from './server.ts';
import { REALISTIC_SETTINGS, type Settings } from './settings.ts';
import type { Simulation } from './simulation.ts';
import { directoryOf, parseWorld, type WorldInput } from './world.ts';

interface DirectorySimulatorOptions {
  readonly dialect: OpenDialect;
  /** The content of the directory at the start and after a reset. */
  readonly world: WorldInput;
  /** The seed that decides orders, page sizes, lags and failures. */
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The settings at the start and after a reset. Default: {@link REALISTIC_SETTINGS}. */
  readonly settings?: Settings | undefined;
  /** Receives the errors that are defects of the simulator. */
  readonly onDefect?: ((error: unknown) => void) | undefined;
}

export interface DirectorySimulator {
  /** The server, for requests without a socket (`app.inject`). */
  readonly app: FastifyInstance;
  readonly dialect: Dialect;
  /** Listens only on 127.0.0.1. With port 0, the system chooses a free port. */
  listen(options?: { port?: number }): Promise<{ url: string; port: number }>;
  close(): Promise<void>;
}

/**
 * Creates a vendor's directory in memory.
 * @throws {WorldError} for an invalid world
 */
export function createDirectorySimulator(options: DirectorySimulatorOptions): DirectorySimulator {
  const { clock, seed } = options;
  const world = parseWorld(options.world);
  const firstSettings = options.settings ?? REALISTIC_SETTINGS;
  let directory = directoryOf(world);
  let settings = firstSettings;
  const simulation: Simulation = {
    directory: () => directory,
    settings: () => settings,
    clock,
    random: (purpose) => seededRandom(`${seed}/${purpose}`),
    pageTokens: createPageTokens(),
    wrongCounts: new Map(),
  };
  const dialect = options.dialect(simulation);
  const faults = createFaults();
  const log = createRequestLog();
  const served = { simulation, dialect, faults, log, onDefect: options.onDefect ?? (() => {}) };
  const app = createServer(served);
  registerControls(app, {
    ...served,
    changeSettings: (changed) => {
      settings = changed;
    },
    reset: () => {
      directory = directoryOf(world);
      settings = firstSettings;
      simulation.pageTokens.expireAll();
      simulation.wrongCounts.clear();
      faults.add([]);
      log.clear();
      dialect.reset();
    },
  });
  app.get('/', (_, reply) => reply.type('text/plain; charset=utf-8').send(overviewOf(dialect)));
  return {
    app,
    dialect,
    listen: async ({ port = 0 } = {}) => {
      const url = await app.listen({ host: '127.0.0.1', port });
      return { url, port: Number(new URL(url).port) };
    },
    close: () => app.close(),
  };
}

const overviewOf = ({ name, endpoints }: Dialect) =>
  [
    `The directory simulator, dialect ${name}. Controls are under /_simulator.`,
    ...endpoints.map(({ method, path, operation }) => `${method} ${path}  ${operation}`),
    '',
  ].join('\n');
