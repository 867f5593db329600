import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from 'aws-cdk-lib';
import type { IRole, IUser } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import { ConnectorStack } from './connector-stack.ts';
import { DEPLOYABLE_KEYS, type FunctionCode } from './function-code.ts';
import { readSettings, type StageSettings } from './settings.ts';

/** The settings of one stage, as typed props. docs/settings.md explains each one. */
export interface GroupSyncProps extends Partial<Omit<z.input<typeof StageSettings>, 'region'>> {
  /** Account and region of the stack. Default: the account and region of the credentials of the CDK app. */
  readonly env?: Environment;
  /** Value of the tag `groupsync:stage`. Default: `production`. */
  readonly stage?: string;
  /** The folder with the code of each function. Default: the code in the package. A checkout has no default. */
  readonly code?: FunctionCode;
}

/**
 * groupsync as a part of a CDK app. The stack equals the stack that `groupsync deploy` creates with the same settings.
 *
 * @throws SettingsError for invalid props, with one line per fault
 */
export class GroupSync extends ConnectorStack {
  constructor(scope: Construct, id: string, { env, code = builtCode(), ...given }: GroupSyncProps = {}) {
    const settings = readSettings(given);
    super(scope, id, { ...(env && { env }), stackName: settings.prefix, settings, code });
  }

  /**
   * Lets a role or user send events to `eventsQueue`. After the first call, the queue admits only the principals of all
   * calls and the principals in `producers`, even if the policies of other principals allow sending. A principal of
   * another account also needs an IAM policy in that account (docs/deploy.md, "Send directory events").
   */
  grantPublish(producer: IRole | IUser): void {
    this.sources.admit(['roleArn' in producer ? producer.roleArn : producer.userArn]);
  }
}

/** The folder of the built handlers in the package. A checkout has no such folder. */
const BUILT = fileURLToPath(new URL('functions', import.meta.url));

/** True in the package, false in a checkout. */
export const isBuilt = (): boolean => existsSync(BUILT);

/** Returns the code in the package. @throws in a checkout */
export function builtCode(): FunctionCode {
  if (!isBuilt())
    throw new Error("expected the prop code in a checkout: code: await functionCode('cdk.out')");
  return Object.fromEntries(DEPLOYABLE_KEYS.map((key) => [key, join(BUILT, key)])) as FunctionCode;
}
