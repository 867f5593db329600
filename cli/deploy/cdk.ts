import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createQuery } from '../../shared/aws/query.ts';
import { createSdk, type Sdk } from '../../shared/aws/sdk.ts';
import { createStackClient, resourcesOf } from '../../shared/aws/stacks.ts';
import { protectTable } from '../../shared/aws/table-protection.ts';
import { HintedError, UsageError } from '../io.ts';
import { type CdkPackages, fetchCdk, packagedCdk } from './fetch-cdk.ts';
import type { Cdk, CdkOptions, DeploymentOptions, StackPlace } from './ports.ts';
import { runProgram } from './run-program.ts';

/** The paths of the CDK and the app. In the package, the app is next to the built command. */
interface Programs {
  readonly cdk: string;
  readonly app: string;
  readonly env: Readonly<Record<string, string>>;
}

const WARNING = /^WARNING (.*) \(Annotation\)$/;

/** A command line for a shell. The space at its end stops the CDK from removing the first and the last quote. */
const commandLine = (...words: readonly string[]) => `${words.map((word) => `"${word}"`).join(' ')} `;

export async function openCdk(options: CdkOptions): Promise<Cdk> {
  const packages = packagedCdk(new URL('./cdk/', import.meta.url));
  const programs = packages === undefined ? programsOfCheckout() : await programsOfPackage(packages, options);
  return createCdk(programs, options);
}

function programsOfCheckout(): Programs {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return {
    cdk: join(root, 'node_modules/aws-cdk/bin/cdk'),
    app: commandLine(process.execPath, '--import', import.meta.resolve('tsx'), join(root, 'infra/app.ts')),
    env: { TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') },
  };
}

async function programsOfPackage(packages: CdkPackages, options: CdkOptions): Promise<Programs> {
  const requireCredentials = async () => {
    const sdk = createSdk(options);
    await sdk.sts.config.credentials().finally(sdk.close);
  };
  const modules = join(await fetchCdk(packages, { ...options, requireCredentials }), 'node_modules');
  return {
    cdk: join(modules, 'aws-cdk/bin/cdk'),
    app: commandLine(process.execPath, fileURLToPath(new URL('./app.cjs', import.meta.url))),
    // Only `require` reads NODE_PATH, so the app is CommonJS.
    env: { NODE_PATH: modules },
  };
}

/** The options that `cdk.json` sets in a checkout. Users of the package have no `cdk.json`. */
const AS_IN_CDK_JSON = ['--no-version-reporting', '--no-notices', '--no-color', '--ci'];

/** Emulators do not report changed resources in change sets. */
const METHOD_OF_EMULATORS = ['--method', 'template'];

const flagsOf = ({ revertDrift, importExisting }: DeploymentOptions): readonly string[] => [
  ...(revertDrift === true ? ['--revert-drift'] : []),
  ...(importExisting === true ? ['--import-existing-resources'] : []),
];

function createCdk(programs: Programs, { cwd, env, region, profile, note }: CdkOptions): Cdk {
  const out = mkdtempSync(join(tmpdir(), 'groupsync-deploy-'));
  const ofTarget = {
    ...(region === undefined ? {} : { AWS_REGION: region, AWS_DEFAULT_REGION: region }),
    ...(profile === undefined ? {} : { AWS_PROFILE: profile }),
  };
  const childEnv = { ...env, ...programs.env, ...ofTarget, CDK_DISABLE_CLI_TELEMETRY: 'true' };
  const emulator = env['AWS_ENDPOINT_URL'];
  let place: StackPlace | undefined;
  let sdk: Sdk | undefined;
  const run = async (args: readonly string[], { folder = cwd, isShown = false } = {}) => {
    const { code, lines } = await runProgram({
      command: process.execPath,
      args: [programs.cdk, ...args, ...AS_IN_CDK_JSON],
      cwd: folder,
      env: childEnv,
      ...(isShown ? { onLine: (line: string) => line.trim() !== '' && note(line) } : {}),
    });
    if (code === 0) return lines;
    throw failureOf(args[0] ?? '', lines);
  };
  return {
    async synth(settings) {
      const context = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const lines = await run(['synth', '--quiet', '--app', programs.app, '--output', out, ...context]);
      for (const line of lines) if (WARNING.test(line)) note(line.replace(WARNING, 'warning: $1'));
      place = placeOf(out);
      const template = readFileSync(join(out, `${place.stack}.template.json`), 'utf8');
      return { ...place, resources: resourcesOf(template) };
    },
    diff: ({ importExisting }) =>
      run([
        'diff',
        '--app',
        out,
        ...(emulator === undefined ? flagsOf({ importExisting }) : METHOD_OF_EMULATORS),
      ]),
    drift: () => run(['drift', '--app', out]),
    async bootstrap() {
      const { account, region: where } = place ?? placeOf(out);
      // The command runs in `out`, because in a folder with a `cdk.json` it would first build the app.
      await run(['bootstrap', `aws://${account}/${where}`, ...bootstrapFlags(out)], {
        folder: out,
        isShown: true,
      });
    },
    async deploy(options) {
      const flags = ['--all', '--require-approval', 'never', ...flagsOf(options)];
      await run(['deploy', '--app', out, ...flags], { isShown: true });
    },
    async destroy() {
      await run(['destroy', '--app', out, '--all', '--force'], { isShown: true });
    },
    async protectTable(isProtected) {
      const { stack, region } = place ?? placeOf(out);
      sdk ??= createSdk({ region, profile });
      await protectTable(sdk, stack, isProtected);
    },
    async stacks() {
      sdk ??= createSdk({ region: (place ?? placeOf(out)).region, profile });
      return createStackClient(createQuery(sdk, emulator));
    },
    close() {
      sdk?.close();
      rmSync(out, { recursive: true, force: true });
    },
  };
}

const Manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().optional(),
      properties: z
        .object({
          tags: z.record(z.string(), z.string()).optional(),
          bootstrapStackVersionSsmParameter: z.string().optional(),
        })
        .optional(),
    }),
  ),
});

function placeOf(folder: string) {
  const { artifacts } = Manifest.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
  const [stack, { environment = '', properties = {} } = {}] =
    Object.entries(artifacts).find(([, { type }]) => type === 'aws:cloudformation:stack') ?? [];
  const [, account, region] = /^aws:\/\/([^/]+)\/(.+)$/.exec(environment) ?? [];
  if (stack === undefined || account === undefined || region === undefined)
    throw new Error(`expected one stack with its account and region in ${folder}, got "${environment}"`);
  if (account === 'unknown-account') throw Object.assign(new Error(), { name: 'CredentialsProviderError' });
  if (region === 'unknown-region') throw new Error('Region is missing');
  return { stack, account, region, properties };
}

const BuiltRoles = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Properties: z.object({ PermissionsBoundary: z.string().optional() }).optional() }),
  ),
});

/**
 * Returns the options with which `cdk bootstrap` obeys the same rules of the account as the built stack: its qualifier,
 * its tags, and the permissions boundary of its roles.
 */
function bootstrapFlags(folder: string): readonly string[] {
  const { stack, properties } = placeOf(folder);
  const { tags = {}, bootstrapStackVersionSsmParameter: parameter = '' } = properties;
  const template = readFileSync(join(folder, `${stack}.template.json`), 'utf8');
  const roles = Object.values(BuiltRoles.parse(JSON.parse(template)).Resources);
  const boundary = roles.find(({ Properties }) => Properties?.PermissionsBoundary !== undefined);
  const [, qualifier = DEFAULT_QUALIFIER] = /^\/cdk-bootstrap\/(\w+)\/version$/.exec(parameter) ?? [];
  const [, policy] = /:policy\/(.+)$/.exec(boundary?.Properties?.PermissionsBoundary ?? '') ?? [];
  const ofCompany = Object.entries(tags).filter(([key]) => !key.startsWith('groupsync:'));
  return [
    // Each qualifier needs a stack of its own, because the CDK would replace the roles of another qualifier.
    ...(qualifier === DEFAULT_QUALIFIER
      ? []
      : ['--qualifier', qualifier, '--toolkit-stack-name', `CDKToolkit-${qualifier}`]),
    ...(policy === undefined ? [] : ['--custom-permissions-boundary', policy]),
    ...ofCompany.flatMap(([key, value]) => ['--tags', `${key}=${value}`]),
  ];
}

/** The qualifier of the CDK itself (AWS CDK, "Customize the bootstrap"). */
const DEFAULT_QUALIFIER = 'hnb659fds';

const REFUSED = 'The settings cannot be used.';

function failureOf(command: string, lines: readonly string[]): Error {
  const at = lines.findIndex((line) => line.startsWith(REFUSED));
  if (at >= 0) {
    const faults = lines.slice(at + 1).findIndex((line) => !line.startsWith('  '));
    const end = faults < 0 ? lines.length : at + 1 + faults;
    return new UsageError(lines.slice(at, end).join('\n'));
  }
  if (lines.some((line) => /has the environment been bootstrapped|cdk bootstrap/i.test(line)))
    return new HintedError(
      'the CDK has no bucket and no roles in this account and region',
      'groupsync deploy --bootstrap',
    );
  const shown = lines.filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const errors = [...new Set(shown.filter((line) => line.startsWith('ERROR ')))];
  const reasons = errors.length > 0 ? errors.slice(0, LINES) : shown.slice(-LINES);
  return new Error(`cdk ${command} failed: ${reasons.join(' ')}`);
}

/**
 * The number of lines that are shown after a failure. The CDK marks errors of its validation, after which it may print
 * warnings. It prints other reasons at the end.
 */
const LINES = 4;
