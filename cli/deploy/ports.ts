import type { DeployedResource, StackClient } from '../../shared/sync/ports/deployment.ts';

export interface StackPlace {
  readonly stack: string;
  readonly account: string;
  readonly region: string;
}

export interface BuiltStack extends StackPlace {
  readonly resources: readonly DeployedResource[];
}

export interface DeploymentOptions {
  /** Undoes changes that were made by hand to deployed resources. */
  readonly revertDrift?: boolean | undefined;
  /** Takes over resources with the same names that an earlier stack has kept. */
  readonly importExisting?: boolean | undefined;
}

/** The CDK, for one stage. `synth` must be called first, because the other calls use the built template. */
export interface Cdk {
  /** Builds the template from the settings file and these settings. @throws UsageError for invalid settings */
  synth(settings: Readonly<Record<string, string>>): Promise<BuiltStack>;
  /** Returns the output of `cdk diff`: the built template compared with the deployed stack. */
  diff(options: DeploymentOptions): Promise<readonly string[]>;
  /** Returns the output of `cdk drift`: changes that were made by hand to deployed resources. */
  drift(): Promise<readonly string[]>;
  bootstrap(): Promise<void>;
  deploy(options: DeploymentOptions): Promise<void>;
  destroy(): Promise<void>;
  protectTable(isProtected: boolean): Promise<void>;
  /** CloudFormation, in the region of the built stack. */
  stacks(): Promise<StackClient>;
  close(): void;
}

export interface CdkOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly region: string | undefined;
  readonly profile: string | undefined;
  readonly note: (text: string) => void;
}
