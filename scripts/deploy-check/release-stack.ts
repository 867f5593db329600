import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../shared/contract/version.ts';
import { ROOT, type StageOfStack } from './cdk.ts';
import type { Clients } from './deployment.ts';
import { downloadStage } from './downloaded-stage.ts';
import type { Emulator } from './emulator.ts';

let isBuilt = false;

/** Builds the files of a release once, and copies them into a new bucket. */
export async function publishRelease(bucket: string, emulator: Emulator): Promise<void> {
  if (!isBuilt)
    execFileSync('npm', ['run', '--silent', 'template'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  isBuilt = true;
  const folder = join(ROOT, 'release');
  await emulator.createBucket(bucket);
  for (const file of readdirSync(folder))
    if (file.startsWith(`groupsync-${VERSION}`))
      await emulator.put(bucket, file, readFileSync(join(folder, file)));
}

/** Lints the template with cfn-lint, if this machine has it. Ignores W3005 (redundant dependencies). */
export function lintRelease(): void {
  const template = join(ROOT, 'release', `groupsync-${VERSION}.template.json`);
  const { error, status, stdout } = spawnSync('cfn-lint', ['-i', 'W3005', '-t', template], {
    encoding: 'utf8',
  });
  if (error !== undefined) console.log('    not linted: cfn-lint is not installed (pip install cfn-lint)');
  else if (status !== 0) throw new Error(`expected a template without findings of cfn-lint:\n${stdout}`);
}

interface ReleaseStack {
  readonly prefix: string;
  /** The bucket with the files of the release. */
  readonly bucket: string;
  /** A folder that does not exist yet. */
  readonly out: string;
}

/** Creates a stack from the template of the release, without the CDK. @returns the stage, ready to run its functions */
export async function createReleaseStack(
  { prefix, bucket, out }: ReleaseStack,
  on: { readonly clients: Clients; readonly emulator: Emulator },
): Promise<StageOfStack> {
  await on.emulator.cloudFormation({
    Action: 'CreateStack',
    StackName: prefix,
    TemplateURL: on.emulator.urlOf(bucket, `groupsync-${VERSION}.template.json`),
    'Capabilities.member.1': 'CAPABILITY_NAMED_IAM',
    ...parameters({ CodeBucket: bucket, Prefix: prefix }),
  });
  return downloadStage({ prefix, bucket, out }, on);
}

const parameters = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value], at) => [
      [`Parameters.member.${at + 1}.ParameterKey`, name],
      [`Parameters.member.${at + 1}.ParameterValue`, value],
    ]),
  );
