import { readdirSync } from 'node:fs';

/**
 * The rules of the architecture as data. Paths are relative to the root of the project. A pattern that ends in `*`
 * matches every path that begins with it. Any other pattern matches exactly. The rules apply to all source files.
 */

/**
 * The files and packages that a file may import. The first rule whose `files` matches the file applies. A file without
 * a rule fails.
 */
export interface ImportRule {
  readonly files: string;
  /** Project files that may be imported. */
  readonly mayImport: readonly string[];
  /** Only types may be imported from these project files. */
  readonly mayImportTypes?: readonly string[];
  /** Packages and `node:` modules that may be imported. */
  readonly packages: readonly string[];
  /** Only types may be imported from these packages. */
  readonly packageTypes?: readonly string[];
  readonly fix: string;
}

const SHARED = 'shared/*';
const DOMAIN = 'shared/domain/*';
const PLAN = 'shared/plan/*';
const CONTRACT = 'shared/contract/*';
const PORTS = 'shared/sync/ports/*';
const BUNDLES = 'shared/sync/ports/bundles.ts';
const SYNC = 'shared/sync/*';
const OPERATE = 'shared/operate/*';
const STORE = 'shared/store/*';
/** The engine: what every company uses, with or without SCIM and a directory that is read. */
const ENGINE = [SYNC, DOMAIN, PLAN, CONTRACT];
/** The features that nothing in the engine needs. Each has one folder, and the rules below apply to its rooms. */
const FEATURES = ['directory', 'scim'];
/** The folders of the simulated directories, one per vendor. */
const DIALECTS = readdirSync('directory-simulator', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'engine')
  .map(({ name }) => `directory-simulator/${name}`);
const ANY = '*';
/** A package that limits concurrency. It uses no clock, no timers and no I/O. */
const BOUNDED = 'p-map';
/**
 * The packages that a use case can import. A hash is a pure function. The randomness rule refuses the random functions
 * of `node:crypto`.
 */
const USE_CASE_PACKAGES = ['node:crypto', BOUNDED];

const pure = (name: string) =>
  `${name} is pure: pass the value as an argument, or move the impure part to sync, to an adapter or to runtime`;
const adapter = (room: string, ...sdk: string[]): ImportRule => ({
  files: `shared/${room}/*`,
  mayImport: [`shared/${room}/*`, DOMAIN, CONTRACT, PORTS],
  packages: ['zod', 'node:*', BOUNDED, ...sdk],
  fix: `shared/${room} is an adapter: it implements ports of shared/sync/ports, throws their errors, and imports no use case and no other adapter; connect adapters in shared/runtime/wire*.ts`,
});

/** The rooms of a feature, from the inside out. */
const feature = (name: string): readonly ImportRule[] => {
  const room = (part: string) => `shared/${name}/${part}`;
  const ports = room('ports.ts');
  const useCases = ['protocol/*', 'rules/*', 'ports.ts', 'reading/*', 'server/*', 'tokens/*'].map(room);
  return [
    {
      files: room('protocol/*'),
      mayImport: [room('protocol/*')],
      packages: ['zod'],
      fix: `${pure(room('protocol'))}: it implements the protocol alone; move the effect of a request on desired state to a use case`,
    },
    {
      files: room('rules/*'),
      mayImport: [room('rules/*'), DOMAIN, PLAN, CONTRACT],
      packages: ['zod'],
      fix: pure(room('rules')),
    },
    {
      files: ports,
      mayImport: [room('protocol/*'), room('rules/*'), PORTS, DOMAIN, PLAN, CONTRACT],
      packages: ['zod'],
      fix: `${ports} contains only interfaces, stored forms and errors: move other code to a pure folder`,
    },
    {
      files: room('store/*'),
      mayImport: [room('store/*'), room('rules/*'), ports, STORE, DOMAIN, CONTRACT, PORTS],
      packages: ['zod', 'node:*', BOUNDED],
      fix: `${room('store')} is an adapter over shared/store: it imports no use case`,
    },
    ...['vendors', 'aws'].map((part) => ({
      files: room(`${part}/*`),
      mayImport: [room(`${part}/*`), room('rules/*'), ports, DOMAIN, CONTRACT, PORTS],
      packages: ['zod', 'node:*', BOUNDED, 'undici', 'jose', '@aws-sdk/client-*'],
      fix: `${room(part)} is an adapter: it implements ${ports}, throws its errors, and imports no use case; connect adapters in shared/runtime/wire*.ts`,
    })),
    {
      files: room('operate/*'),
      mayImport: [...useCases, room('operate/*'), OPERATE, ...ENGINE],
      packages: USE_CASE_PACKAGES,
      fix: `${room('operate')} contains what operators do with the feature: declare an effect as a port in ${ports}, and connect the port in shared/runtime/wire-tool.ts`,
    },
    {
      files: room('*'),
      mayImport: [...useCases, ...ENGINE],
      packages: USE_CASE_PACKAGES,
      fix: `shared/${name} is a feature: its use cases import the engine and their own folder; an action of operators belongs in ${room('operate')}`,
    },
  ];
};

/** Server code that both simulators use: faults, request log, loopback check, query strings and random numbers. */
const SIMULATOR_SERVER = [
  'local/platform/controls/faults.ts',
  'local/platform/controls/hooks.ts',
  'local/platform/controls/loopback.ts',
  'local/platform/controls/request-log.ts',
  'local/platform/errors.ts',
  'local/platform/query.ts',
  'local/platform/seeded-random.ts',
];

export const IMPORT_RULES: readonly ImportRule[] = [
  { files: DOMAIN, mayImport: [DOMAIN], packages: ['zod'], fix: pure('shared/domain') },
  { files: CONTRACT, mayImport: [CONTRACT, DOMAIN], packages: ['zod'], fix: pure('shared/contract') },
  { files: PLAN, mayImport: [PLAN, DOMAIN, CONTRACT], packages: [], fix: pure('shared/plan') },
  ...FEATURES.flatMap(feature),
  {
    // A port with one implementation is the type of its implementation, so that no signature is declared twice.
    files: BUNDLES,
    mayImport: [PORTS, DOMAIN, PLAN, CONTRACT],
    mayImportTypes: [
      STORE,
      ...FEATURES.flatMap((name) => [`shared/${name}/store/*`, `shared/${name}/ports.ts`]),
    ],
    packages: [],
    fix: `${BUNDLES} names the ports, and imports only types from the stores`,
  },
  {
    files: PORTS,
    mayImport: [PORTS, DOMAIN, PLAN, CONTRACT],
    packages: ['zod'],
    fix: 'shared/sync/ports contains only interfaces and errors for adapters: move other code to a pure folder',
  },
  {
    files: SYNC,
    mayImport: ENGINE,
    packages: USE_CASE_PACKAGES,
    fix: 'shared/sync contains the use cases of the workers, and imports no feature (shared/directory, shared/scim): move what the engine needs to domain or plan; declare an effect as a port in shared/sync/ports, and connect the port in shared/runtime/wire*.ts; code that shared/operate also needs belongs in sync',
  },
  {
    files: OPERATE,
    mayImport: [OPERATE, ...ENGINE, ...FEATURES.map((name) => `shared/${name}/*`)],
    packages: USE_CASE_PACKAGES,
    fix: 'shared/operate contains what operators do and ask: declare an effect as a port in shared/sync/ports, and connect the port in shared/runtime/wire-tool.ts',
  },
  adapter('platform', 'undici', 'p-queue', '@streamparser/json'),
  adapter('store', '@aws-sdk/client-dynamodb', '@aws-sdk/util-dynamodb'),
  adapter('queues', '@aws-sdk/client-sqs'),
  adapter('oauth', '@node-oauth/oauth2-server'),
  // This adapter describes the deployment, so it calls every AWS service. It also tests whether an address answers.
  adapter('aws', '@aws-sdk/client-*', 'undici'),
  {
    files: 'shared/runtime/*',
    mayImport: [SHARED],
    packages: [ANY],
    fix: 'shared/runtime may use all of shared but nothing outside it: move the needed code to shared',
  },
  {
    files: 'functions/frame/*',
    mayImport: ['functions/frame/*', SHARED],
    packages: ['zod'],
    packageTypes: ['aws-lambda'],
    fix: 'functions/frame has the common code of the handlers: it imports shared, never a handler',
  },
  {
    files: 'functions/console.ts',
    mayImport: ['functions/frame/*', 'console/server/*', 'console/sign-in/*', SHARED],
    packages: [],
    packageTypes: ['aws-lambda'],
    fix: 'the handler of the console parses, calls the server of the console and replies',
  },
  {
    files: 'functions/*',
    mayImport: ['functions/frame/*', SHARED],
    packages: ['zod'],
    packageTypes: ['aws-lambda'],
    fix: 'a handler parses, makes one call into shared and replies: move other code to shared (another handler, cli, local and infra are out of its reach)',
  },
  {
    files: 'cli/groupsync.mjs',
    mayImport: ['cli/main.ts', 'local/platform.ts', 'scripts/start.mjs', 'scripts/command.mjs', 'dist/*'],
    packages: ['node:*', 'tsx/esm/api'],
    fix: 'the launcher only chooses whether to run the sources or the built files',
  },
  {
    files: 'cli/*',
    mayImport: ['cli/*', 'console/server/*', 'console/local/*', SHARED],
    packages: [ANY],
    fix: 'the command line imports shared and console/server: move code that functions or local also need to shared',
  },
  {
    files: 'console/page-build.ts',
    mayImport: [],
    packages: [],
    fix: 'this file contains only options of the bundler: import the bundler in the caller',
  },
  {
    files: 'console/answers.ts',
    mayImport: ['console/server/*', 'shared/contract/*'],
    packages: [],
    fix: 'console/answers.ts imports only types, and only from console/server and shared/contract',
  },
  {
    files: 'console/search.ts',
    mayImport: [],
    packages: [],
    fix: 'the page and its server share this search code: pass everything as an argument',
  },
  {
    files: 'console/server/*',
    mayImport: ['console/server/*', 'console/answers.ts', 'console/search.ts', SHARED],
    packages: ['zod', 'node:crypto', BOUNDED],
    fix: 'the server side of the page calls the use cases and runs in any server: pass values that depend on the machine as arguments',
  },
  {
    files: 'console/local/*',
    mayImport: ['console/local/*', 'console/server/*', 'console/page-build.ts'],
    packages: ['node:*', 'esbuild'],
    fix: 'the local console serves console/server and the page on one machine: a command of cli passes what it needs',
  },
  {
    files: 'console/sign-in/*',
    mayImport: ['console/sign-in/*', 'console/server/*', SHARED],
    packages: ['node:crypto', 'node:zlib', 'openid-client', 'zod', '@aws-sdk/client-secrets-manager'],
    fix: 'the sign-in of the console is a layer around console/server: it decides who a person is, and console/server decides what the person may do',
  },
  {
    files: 'console/page/*',
    mayImport: [
      'console/page/*',
      'console/answers.ts',
      'console/search.ts',
      'shared/contract/csv.ts',
      'shared/contract/moment.ts',
      'shared/contract/setting-difference.ts',
      'shared/domain/duration.ts',
    ],
    packages: ['preact', 'preact/hooks', '@preact/signals'],
    fix: 'the page runs in a browser, and imports only console/answers.ts, console/search.ts, csv.ts, moment.ts and setting-difference.ts of shared/contract, and shared/domain/duration.ts from the project',
  },
  {
    files: 'local/emulators/front-worker.mjs',
    mayImport: ['scripts/front-worker.mjs'],
    packages: [],
    fix: 'the launcher of the thread only loads its built file',
  },
  {
    files: 'local/*',
    // fauxqs does not export the store that local/emulators/sqs-store.ts fixes. The platform simulators of local and
    // simulate share simulate/platform/rules.ts.
    mayImport: [
      'local/*',
      'directory-simulator/*',
      SHARED,
      'functions/*',
      'console/page-build.ts',
      'simulate/platform/rules.ts',
      'node_modules/fauxqs/dist/*',
    ],
    packages: [ANY],
    fix: 'the local stack imports shared and the handlers, never cli or infra: move common code to shared',
  },
  ...DIALECTS.map((folder) => ({
    files: `${folder}/*`,
    mayImport: [`${folder}/*`, 'directory-simulator/engine/*', 'local/platform/seeded-random.ts'],
    packages: ['zod', 'node:*'],
    fix: 'a dialect imports the engine, never another dialect: move common code to directory-simulator/engine',
  })),
  {
    files: 'directory-simulator/engine/*',
    mayImport: ['directory-simulator/engine/*', ...SIMULATOR_SERVER],
    packages: ['zod', 'fastify', 'node:*'],
    fix: 'the engine of the directory simulator imports no dialect: pass what it needs through the interface Dialect',
  },
  {
    files: 'directory-simulator/*',
    mayImport: ['directory-simulator/*', ...SIMULATOR_SERVER, 'local/platform/*', 'local/usage.ts'],
    packages: ['zod', 'node:*'],
    fix: 'the directory simulator imports the server code of the platform simulator, and nothing of the product',
  },
  {
    files: 'infra/*',
    mayImport: ['infra/*', CONTRACT, 'console/page-build.ts', 'node_modules/undici/lib/*'],
    packages: [
      'zod',
      'aws-cdk-lib*',
      'constructs',
      'cdk-nag',
      'esbuild',
      'node:*',
      // The functions do not bundle the SDK's whole chain of credential providers, but only this package.
      '@aws-sdk/credential-provider-env',
    ],
    fix: 'infra imports names, topology and metrics from shared/contract, and names handlers by path: move common code to shared/contract',
  },
  {
    files: 'simulate/*',
    mayImport: [
      'simulate/*',
      SHARED,
      'functions/*',
      'directory-simulator/*',
      'local/platform/errors.ts',
      'local/platform/seeded-random.ts',
    ],
    packages: ['undici', '@aws-sdk/client-sqs', 'esbuild', 'node:*'],
    packageTypes: ['zod'],
    fix: 'simulate imports shared, the handlers and the directory simulator, but no test and no local stack: move common code to simulate',
  },
  // These folders may import everything. The rules above allow no import from these folders, except of the launchers in
  // scripts.
  { files: 'scripts/*', mayImport: [ANY], packages: [ANY], fix: '' },
  { files: 'bench/*', mayImport: [ANY], packages: [ANY], fix: '' },
  { files: 'test/*', mayImport: [ANY], packages: [ANY], fix: '' },
];

/** A rule about globals and Node APIs that a file may not use. Names have the form that `reader.ts` gives them. */
interface UseRule {
  readonly name: string;
  /** A pattern matches a name exactly. If it starts with `*.`, it matches the last part of a name. */
  readonly uses: readonly string[];
  readonly within: readonly string[];
  readonly except: readonly string[];
  readonly fix: string;
}

const DEPLOYED = ['shared/*', 'functions/*', 'infra/*'];
/**
 * The simulation. One seed must give the same run on every machine, so only the command that starts runs may use the
 * real clock.
 */
const SIMULATED = 'simulate/*';
const RUNNER = 'simulate/run.ts';
const RUNTIME = 'shared/runtime/*';

/**
 * Rules about the use of environment, clock, randomness, timers and AsyncLocalStorage. The folders cli, local, scripts,
 * bench and test may use the first four, because they run on the machine of a person.
 */
export const USE_RULES: readonly UseRule[] = [
  {
    name: 'environment',
    uses: ['process.env'],
    within: DEPLOYED,
    except: ['shared/runtime/config*', 'infra/settings*'],
    fix: 'read it once in shared/runtime/config (functions) or infra/settings (infra), parse it with zod and pass the parsed value on',
  },
  {
    name: 'clock',
    uses: ['Date.now', 'new Date()', 'Date()', 'performance.now', 'process.hrtime', 'process.hrtime.bigint'],
    within: [...DEPLOYED, SIMULATED],
    except: [RUNTIME, RUNNER],
    fix: 'take the time as an argument (nowMs), or a Clock port; only shared/runtime reads the clock',
  },
  {
    name: 'randomness',
    uses: ['Math.random', '*.randomUUID', '*.randomBytes', '*.randomInt', '*.getRandomValues'],
    within: [...DEPLOYED, SIMULATED],
    except: [RUNTIME],
    fix: 'take the id or the random number as an argument; only shared/runtime makes them',
  },
  {
    name: 'timers',
    uses: ['*.setTimeout', '*.setInterval', 'scheduler.wait', 'scheduler.yield'],
    within: ['shared/*', SIMULATED],
    except: [RUNTIME],
    fix: 'take `sleep` as an argument or a port, so that tests do not wait; only shared/runtime sets timers',
  },
  {
    name: 'caller storage',
    uses: ['AsyncLocalStorage', '*.AsyncLocalStorage'],
    within: ['test/*'],
    except: ['test/support/caller-storage.ts'],
    fix: 'take callerStorage() at the top level of the file: a storage that stays enabled slows down each promise in later test files of the same worker',
  },
];

/** Folders in which a file that only re-exports is refused. */
export const NO_BARRELS = {
  within: ['shared/*'],
  fix: 'import from the file that defines it: a barrel hides which file is used, and adds its whole folder to every bundle',
} as const;

export const NO_CYCLES = {
  fix: 'move the common code into a third file, or pass one side as an argument (type-only imports count too)',
} as const;

export const LITERAL_IMPORTS = {
  fix: 'write the specifier as a string literal, so that the check can read it',
} as const;
