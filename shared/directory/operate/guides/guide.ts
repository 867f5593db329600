import type { DirectoryStepRow } from '../../../contract/answers/directory.ts';
import type { DirectoryKind, DirectoryOf } from '../../../contract/directory-settings.ts';
import type { EntraCloud } from '../../../contract/entra-clouds.ts';

export interface DirectoryOptions {
  readonly directory?: DirectoryKind;
  readonly directoryUrl?: string;
  readonly key?: string;
  readonly secretStdin?: boolean;
  readonly administrator?: string;
  readonly provider?: string;
  readonly serviceAccount?: string;
  readonly tenant?: string;
  readonly clientId?: string;
  readonly cloud?: EntraCloud;
  readonly federated?: boolean;
  readonly audience?: string;
  readonly keyArn?: string;
}

/** The source of a directory's secret: a file with JSON, or text that is stored in the field `field`. */
export type SecretSource =
  | { readonly kind: 'file'; readonly file: string }
  | {
      readonly kind: 'text';
      readonly field: string;
      /** The name of the secret in the prompt. */
      readonly title: string;
      readonly isPiped: boolean;
    };

export interface DescribedDirectory {
  readonly setting: object;
  /** Undefined if the deployed function signs in with its role and needs no secret. */
  readonly secret: SecretSource | undefined;
}

/** What operators enter and read about the directories of one vendor. */
export interface Guide<Kind extends DirectoryKind> {
  readonly page: string;
  /** Undefined if a required option is missing, or if options exclude each other. */
  describe(options: DirectoryOptions): DescribedDirectory | undefined;
  /** The options that `describe` requires, for an error. */
  readonly expected: string;
  /** Fills in missing options from the stored setting, if the options name the same account. */
  withStored(options: DirectoryOptions, stored: DirectoryOf<Kind>): DirectoryOptions;
  /** Returns the command-line options for this directory, as shell words. */
  optionsOf(setting: DirectoryOf<Kind>): string;
  /** Returns the fix for a failed step. A line that begins with a command can be pasted into a shell. */
  fixOf(failed: DirectoryStepRow, setting: DirectoryOf<Kind>, connection: string): string;
  /** Returns the fix for a failed call that may succeed later. */
  fixOfBusy(reason: string | null): string;
}

export const connectCommand = (connection: string, options: string): string =>
  `groupsync connect ${connection} --directory ${options}`;

/** Returns the fix for a refusal by AWS STS. `step` names the section of the document. */
export function fixOfWebIdentity(step: string, reason: string | null): string {
  if (reason?.startsWith('OutboundWebIdentityFederationDisabled') === true) {
    return `${step}: the AWS account issues no tokens for other clouds yet:\naws iam enable-outbound-web-identity-federation`;
  }
  return `${step}: deploy with the audience of the provider in the setting directoryAudiences (docs/settings.md)`;
}
