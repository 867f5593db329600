import type { DirectoryStepRow } from '../../../contract/answers/directory.ts';
import type { DirectoryKind, DirectoryOf } from '../../../contract/settings.ts';

export interface Guide<Kind extends DirectoryKind> {
  /** The document that describes the setup. */
  readonly page: string;
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
