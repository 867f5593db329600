/*
 * The architecture as data. Paths are relative to the root of the project; a pattern ends in `*` to match everything
 * that begins so, otherwise it matches exactly. Files that are not TypeScript (JSON, text) are data and not judged.
 */

/** Which files and packages a file may import. The first rule whose `files` matches applies; a file that matches none fails. */
export interface ImportRule {
  readonly files: string;
  /** Project files that may be imported. */
  readonly mayImport: readonly string[];
  /** Packages and `node:` modules that may be imported. */
  readonly packages: readonly string[];
  /** Packages of which only types may be imported. */
  readonly packageTypes?: readonly string[];
  readonly fix: string;
}

const SHARED = 'shared/*';
const DOMAIN = 'shared/domain/*';
const PLAN = 'shared/plan/*';
const CONTRACT = 'shared/contract/*';
const SCIM = 'shared/scim/*';
const PORTS = 'shared/sync/ports/*';
const SYNC = 'shared/sync/*';
const OPERATE = 'shared/operate/*';
const ANY = '*';
/** Bounded concurrency, and nothing else: no clock, no timers, no outside world. */
const BOUNDED = 'p-map';
/** A hash is as pure as a sum; what `node:crypto` has of chance, the randomness rule refuses. */
const USE_CASE_PACKAGES = ['node:crypto', BOUNDED];

const pure = (name: string) =>
  `${name} is pure: take what it needs as an argument, or do the impure part in sync, in an adapter or in runtime`;
const adapter = (room: string, ...sdk: string[]): ImportRule => ({
  files: `shared/${room}/*`,
  mayImport: [`shared/${room}/*`, DOMAIN, CONTRACT, PORTS],
  packages: ['zod', 'node:*', BOUNDED, ...sdk],
  fix: `shared/${room} is an adapter: it implements ports of shared/sync/ports, throws their errors and knows neither use cases nor other adapters; join them in shared/runtime/wire*.ts`,
});

/** What both simulators serve with: faults, request log, loopback check, query strings, chance. */
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
  {
    files: SCIM,
    mayImport: [SCIM],
    packages: ['zod'],
    fix: `${pure('shared/scim')}: it is the protocol alone, and what a request means for the desired state is a use case`,
  },
  {
    files: PORTS,
    mayImport: [PORTS, DOMAIN, PLAN, CONTRACT, SCIM],
    packages: ['zod'],
    fix: 'shared/sync/ports says what the use cases need and which errors that may end in, for adapters to read: move what it needs into a pure folder',
  },
  {
    files: SYNC,
    mayImport: [SYNC, DOMAIN, PLAN, CONTRACT, SCIM],
    packages: USE_CASE_PACKAGES,
    fix: 'shared/sync holds what the workers do: declare what it needs of the world as a port in shared/sync/ports and let shared/runtime/wire*.ts supply it; what it has in common with shared/operate belongs in sync',
  },
  {
    files: OPERATE,
    mayImport: [OPERATE, SYNC, DOMAIN, PLAN, CONTRACT, SCIM],
    packages: USE_CASE_PACKAGES,
    fix: 'shared/operate holds what operators do and ask: declare what it needs of the world as a port in shared/sync/ports and let shared/runtime/wire-tool.ts supply it',
  },
  adapter('platform', 'undici'),
  adapter('store', '@aws-sdk/client-dynamodb', '@aws-sdk/util-dynamodb'),
  adapter('queues', '@aws-sdk/client-sqs'),
  adapter('oauth', '@node-oauth/oauth2-server'),
  adapter('directory', 'undici', 'jose'),
  // Describes the deployment, so it asks every service, and an address whether anything answers there.
  adapter('aws', '@aws-sdk/client-*', 'undici'),
  {
    files: 'shared/runtime/*',
    mayImport: [SHARED],
    packages: [ANY],
    fix: 'shared/runtime may use all of shared but nothing outside it: move what it needs into shared',
  },
  {
    files: 'functions/frame/*',
    mayImport: ['functions/frame/*', SHARED],
    packages: ['zod'],
    packageTypes: ['aws-lambda'],
    fix: 'functions/frame is what the handlers share: it knows shared, never a handler',
  },
  {
    files: 'functions/*',
    mayImport: ['functions/frame/*', SHARED],
    packages: ['zod'],
    packageTypes: ['aws-lambda'],
    fix: 'a handler parses, makes one call into shared and replies: move the rest to shared (another handler, cli, local and infra are out of its reach)',
  },
  {
    files: 'cli/groupsync.mjs',
    mayImport: ['cli/main.ts', 'local/platform.ts', 'scripts/start.mjs', 'scripts/command.mjs', 'dist/*'],
    packages: ['node:*', 'tsx/esm/api'],
    fix: 'the launcher chooses what is run, from sources or built, and nothing else',
  },
  {
    files: 'cli/*',
    mayImport: ['cli/*', 'console/server/*', SHARED],
    packages: [ANY],
    fix: 'the command line knows shared, and the server side of the page that it serves: move what it has in common with functions or local to shared',
  },
  {
    files: 'console/answers.ts',
    mayImport: ['shared/contract/answers.ts'],
    packages: [],
    fix: 'what the page is answered rests on the answers of the use cases: move what it needs into shared/contract/answers.ts',
  },
  {
    files: 'console/server/*',
    mayImport: ['console/server/*', 'console/answers.ts', SHARED],
    packages: ['zod', 'node:crypto', BOUNDED],
    fix: 'the server side of the page calls the use cases and runs in any server: pass what it needs of the machine as an argument',
  },
  {
    files: 'console/page/*',
    mayImport: ['console/page/*', 'console/answers.ts'],
    packages: ['preact', 'preact/hooks', '@preact/signals'],
    fix: 'the page runs in a browser, and knows of the project only what it is answered: console/answers.ts',
  },
  {
    files: 'local/*',
    // fauxqs does not export the store that local/emulators/sqs-store.ts fixes. The platform's rules are shared by all.
    mayImport: [
      'local/*',
      'directory-simulator/engine/*',
      'directory-simulator/google/*',
      SHARED,
      'functions/*',
      'simulate/platform/rules.ts',
      'node_modules/fauxqs/dist/*',
    ],
    packages: [ANY],
    fix: 'the local stack knows shared and the handlers it runs, never cli or infra: move common parts to shared',
  },
  {
    files: 'directory-simulator/google/*',
    mayImport: ['directory-simulator/google/*', 'directory-simulator/engine/*'],
    packages: ['zod', 'node:*'],
    fix: 'a dialect knows the engine, never another dialect: move what two dialects need into directory-simulator/engine',
  },
  {
    files: 'directory-simulator/engine/*',
    mayImport: ['directory-simulator/engine/*', ...SIMULATOR_SERVER],
    packages: ['zod', 'fastify', 'node:*'],
    fix: 'the engine of the directory simulator knows no dialect: give it what it needs through the interface Dialect',
  },
  {
    files: 'directory-simulator/*',
    mayImport: ['directory-simulator/*', ...SIMULATOR_SERVER, 'local/platform/*', 'local/usage.ts'],
    packages: ['zod', 'node:*'],
    fix: 'the directory simulator knows the server code of the platform simulator, and nothing of the product that reads it',
  },
  {
    files: 'infra/*',
    mayImport: ['infra/*', CONTRACT, 'node_modules/undici/lib/*'],
    packages: [
      'zod',
      'aws-cdk-lib*',
      'constructs',
      'cdk-nag',
      'esbuild',
      'node:*',
      // Bundled into the functions in place of the SDK's whole credential chain; the part of undici above likewise.
      '@aws-sdk/credential-provider-env',
    ],
    fix: 'infra shares names, topology and metrics through shared/contract and names handlers by path: move what both need to shared/contract',
  },
  {
    files: 'simulate/*',
    mayImport: [
      'simulate/*',
      SHARED,
      'functions/*',
      'directory-simulator/engine/*',
      'directory-simulator/google/*',
      'local/platform/errors.ts',
      'local/platform/seeded-random.ts',
    ],
    packages: ['undici', '@aws-sdk/client-sqs', 'esbuild', 'node:*'],
    packageTypes: ['zod'],
    fix: 'simulate is the world around the product: it knows shared, the handlers and the directory simulator, and neither tests nor the local stack; move what both need into simulate',
  },
  // Nothing above may import these; they may import everything.
  { files: 'scripts/*', mayImport: [ANY], packages: [ANY], fix: '' },
  { files: 'bench/*', mayImport: [ANY], packages: [ANY], fix: '' },
  { files: 'test/*', mayImport: [ANY], packages: [ANY], fix: '' },
];

/** What a file may not use of the language's or Node's surroundings. Names as `reader.ts` gives them. */
export interface UseRule {
  readonly name: string;
  /** A name matches exactly, or by its last part where the pattern starts with `*.`. */
  readonly uses: readonly string[];
  readonly within: readonly string[];
  readonly except: readonly string[];
  readonly fix: string;
}

const DEPLOYED = ['shared/*', 'functions/*', 'infra/*'];
/** The same seed is the same life on every machine; only the command that runs lives sees the clock. */
const SIMULATED = 'simulate/*';
const RUNNER = 'simulate/run.ts';
const RUNTIME = 'shared/runtime/*';

/*
 * cli, local, scripts, bench and test are free of the rules of environment, clock, randomness and timers: they run on a person's machine, where the environment
 * and the clock are part of the conversation.
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
    fix: 'take a `sleep` as an argument or port, so that tests need not wait; only shared/runtime sets timers',
  },
  {
    name: 'caller storage',
    uses: ['AsyncLocalStorage', '*.AsyncLocalStorage'],
    within: ['test/*'],
    except: ['test/support/caller-storage.ts'],
    fix: 'take callerStorage() at the top level of the file: a storage that nothing disables slows down each promise of the worker’s later files',
  },
];

/** Folders in which a file that only re-exports is refused. */
export const NO_BARRELS = {
  within: ['shared/*'],
  fix: 'import from the file that defines it: a barrel hides who uses what, and drags its whole folder into every bundle',
} as const;

export const NO_CYCLES = {
  fix: 'move what both need into a third file, or turn one direction into an argument (type-only imports count: they bind the designs as much)',
} as const;

export const LITERAL_IMPORTS = {
  fix: 'write the specifier as a string literal: an import that cannot be read cannot be judged',
} as const;
