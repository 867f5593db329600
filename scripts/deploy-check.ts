import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCdk } from './deploy-check/cdk.ts';
import { checkConsole } from './deploy-check/console-check.ts';
import { createClients } from './deploy-check/deployment.ts';
import { createEmulator } from './deploy-check/emulator.ts';
import { ACCOUNT, ASSETS, BOUNDARY, environmentFor, QUALIFIER, REGION } from './deploy-check/environment.ts';
import { checkPackage } from './deploy-check/package-check.ts';
import { checkRestore } from './deploy-check/restore-check.ts';
import { startPlatform } from './deploy-check/simulator.ts';
import { checkStages } from './deploy-check/stages-check.ts';
import { type CheckInput, seconds, step } from './deploy-check/steps.ts';
import { checkTemplate } from './deploy-check/template-check.ts';

/**
 * `npm run deploy:check` tests the deployment on an AWS emulator. It runs the parts that the command line names (`npm
 * run deploy:check -- template package`). Without names, it runs all parts:
 *
 * - `stages`: the app of the checkout as two stages in one account, with an update in place
 * - `template`: the CloudFormation template of a release, without the CDK
 * - `console`: the console: sign-in at an OIDC provider, and an approval from the link of a notification
 * - `restore`: a restore drill, in which a backup of the table becomes the table of a second stack
 * - `package`: the tarball in an empty folder, with an upgrade and a rollback
 *
 * Each part sends events to the deployed queues, runs the deployed bundles and checks the groups on a platform
 * simulator. AWS_ENDPOINT_URL is the address of the emulator. It must be a loopback address, so that the check never
 * reaches a real account. The emulator must support CloudFormation, IAM, KMS, SQS, DynamoDB, Lambda, API Gateway,
 * Scheduler, CloudWatch, SNS, Secrets Manager, S3, SSM and STS.
 */

const SKIPPED = `deploy:check skipped: no emulator given.
Start an emulator that supports CloudFormation: AWS_ENDPOINT_URL=http://127.0.0.1:PORT npm run deploy:check`;

/** The input of a part: its own folder, company and prefix. */
interface Part extends CheckInput {
  readonly endpoint: string;
  readonly prefix: string;
}

const PARTS: Readonly<Record<string, (on: Part) => Promise<void>>> = {
  stages: (on) =>
    checkStages({
      ...on,
      cdk: createCdk(on.env),
      stage: { prefix: on.prefix, out: join(on.folder, 'first'), context: {} },
      second: {
        prefix: `${on.prefix}-b`,
        out: join(on.folder, 'second'),
        context: {
          stage: 'staging',
          retainData: 'false',
          auditExportDays: '1',
          connectionOperators: 'default',
          permissionsBoundary: BOUNDARY,
          bootstrapQualifier: QUALIFIER,
          tags: 'team=hr,cost-center=42',
        },
      },
    }),
  console: (on) => checkConsole({ ...on, cdk: createCdk(on.env) }),
  template: (on) => checkTemplate({ ...on, emulator: createEmulator(on.endpoint, REGION) }),
  restore: (on) => checkRestore({ ...on, emulator: createEmulator(on.endpoint, REGION) }),
  package: (on) => checkPackage({ ...on, emulator: createEmulator(on.endpoint, REGION), assets: ASSETS }),
};

function main(names: readonly string[]): Promise<void> | void {
  const endpoint = process.env['AWS_ENDPOINT_URL'];
  if (!endpoint) {
    console.log(SKIPPED);
    return;
  }
  const unknown = names.filter((name) => !(name in PARTS));
  if (unknown.length > 0) {
    console.error(`deploy:check: expected ${Object.keys(PARTS).join(', ')}; got ${unknown.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(new URL(endpoint).hostname)) {
    console.error(
      `deploy:check refuses ${endpoint}: expected a loopback address, so that the check reaches no real account`,
    );
    process.exitCode = 2;
    return;
  }
  return check(endpoint, names.length > 0 ? names : Object.keys(PARTS));
}

async function check(endpoint: string, names: readonly string[]): Promise<void> {
  const env = environmentFor(endpoint);
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-deploy-check-'));
  const startedAt = Date.now();
  let failed = true;
  try {
    const cdk = createCdk(env);
    await step('bootstrap', () => cdk.bootstrap(ACCOUNT, REGION));
    await step(`bootstrap with the qualifier ${QUALIFIER}`, () => cdk.bootstrap(ACCOUNT, REGION, QUALIFIER));
    for (const name of names) await checkPart(name, { endpoint, env, folder: join(folder, name) });
    failed = false;
    console.log(`done in ${seconds(startedAt)}`);
  } finally {
    if (failed) console.error(`the deployed files and the logs are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function checkPart(name: string, on: Pick<Part, 'endpoint' | 'env' | 'folder'>): Promise<void> {
  mkdirSync(on.folder);
  const platform = await startPlatform(on.folder);
  try {
    const clients = createClients(on.endpoint, REGION);
    const prefix = `check-${name}-${Date.now().toString(36)}`;
    await PARTS[name]?.({ ...on, clients, platform, prefix });
  } finally {
    platform.stop();
  }
}

await main(process.argv.slice(2));
