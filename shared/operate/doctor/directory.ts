import { type Check, DirectoryExamination, type DirectoryStepRow } from '../../contract/answers.ts';
import type { DirectorySetting } from '../../contract/settings.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { shellWord } from '../names.ts';
import { type Checked, check, fault, messageOf } from './check.ts';

const LOG = 'aws logs tail "/aws/lambda/$GROUPSYNC_PREFIX-directory" --since 1h';

/**
 * Lets the deployed function try each step of reading the directory, with its own role and secret. For a connection
 * without a directory there is no check.
 */
export async function checkDirectory(connection: Connection, { functions }: ToolPorts): Promise<Checked> {
  const { name, settings } = connection;
  if (settings.directory === null) return [];
  let steps: readonly DirectoryStepRow[];
  try {
    const answer = await functions.run('directory', { connection: name, examine: true });
    steps = DirectoryExamination.parse(answer).reports[0].steps;
  } catch (error) {
    const fix = `deploy with directory: true (docs/deploy.md). If the function exists, its log has the reason:\n${LOG}`;
    return fault('directory', `the function directory cannot be called: ${messageOf(error)}`, fix);
  }
  return steps.map((row) => checkOfStep(row, settings.directory as DirectorySetting, name));
}

const checkOfStep = (row: DirectoryStepRow, setting: DirectorySetting, connection: string): Check =>
  check(`directory ${row.step}`, row.problem === null, {
    detail: row.problem ?? 'works',
    fix: fixOfStep(row, setting, connection),
  });

const GUIDE = 'docs/read-google.md';

/** Scopes by right, as the administrator of the directory enters them. */
const SCOPES: Readonly<Record<string, string>> = {
  groups: 'https://www.googleapis.com/auth/admin.directory.group.readonly',
  members: 'https://www.googleapis.com/auth/admin.directory.group.member.readonly',
  users: 'https://www.googleapis.com/auth/admin.directory.user.readonly',
  reports: 'https://www.googleapis.com/auth/admin.reports.audit.readonly',
};

/** The fix for a step that does not work. A line that begins with a command can be pasted. */
export function fixOfStep(
  { step, reason, retries }: DirectoryStepRow,
  setting: DirectorySetting,
  connection: string,
): string {
  if (retries) return fixOfBusy(reason);
  if (reason === 'accessNotConfigured' || reason === 'SERVICE_DISABLED') {
    return `${GUIDE}, step 1: the project of the service account has not enabled the API:\ngcloud services enable admin.googleapis.com iamcredentials.googleapis.com sts.googleapis.com`;
  }
  switch (step) {
    case 'credential':
      return `${GUIDE}, step 3: store the key file again:\n${connectCommand(setting, connection)}`;
    case 'web identity':
      return fixOfWebIdentity(reason);
    case 'token exchange':
      return `${GUIDE}, step 1: the provider must exist under this name, trust the issuer of this AWS account, and accept the audience https:${setting.federation?.provider}. The issuer:\naws iam get-outbound-web-identity-federation-info`;
    case 'signature':
      return `${GUIDE}, step 1: the role of the function must be workload identity user and token creator of ${setting.federation?.serviceAccount}`;
    case 'administrator':
      return fixOfAdministrator(reason, setting);
    default:
      return fixOfRight(step, reason, setting);
  }
}

const fixOfBusy = (reason: string | null): string =>
  reason === 'dailyLimitExceeded'
    ? 'the daily limit of calls of the Google Cloud project is reached. Raise it under APIs & Services → Admin SDK API → Quotas, or wait until midnight in California'
    : 'wait a few minutes: the directory limits calls (2,400 a minute for each user) or is not available. If it lasts, another program may use the same Google Cloud project: APIs & Services → Admin SDK API → Quotas';

function fixOfWebIdentity(reason: string | null): string {
  if (reason?.startsWith('OutboundWebIdentityFederationDisabled') === true) {
    return `${GUIDE}, step 1: the AWS account issues no tokens for other clouds yet:\naws iam enable-outbound-web-identity-federation`;
  }
  return `${GUIDE}, step 1: deploy with the audience of the provider in the setting directoryAudiences (docs/deploy.md)`;
}

function fixOfAdministrator(reason: string | null, { administrator }: DirectorySetting): string {
  if (reason === 'unauthorized_client') {
    return `${GUIDE}, step 2: delegate to the client id of the service account, in one line, these scopes:\n${Object.values(SCOPES).join(',')}`;
  }
  return `${administrator} must exist in the directory and must not be suspended, and the key must not be deleted (${GUIDE}, steps 1 and 2)`;
}

function fixOfRight(step: string, reason: string | null, { administrator }: DirectorySetting): string {
  if (reason === 'unauthorized_client' || reason === 'insufficientPermissions') {
    return `${GUIDE}, step 2: add this scope to the delegation; it may take a few minutes:\n${SCOPES[step]}`;
  }
  return `${GUIDE}, step 2: the role of ${administrator} in the Google Admin console must allow reading ${step}`;
}

const connectCommand = (
  { kind, administrator, federation }: DirectorySetting,
  connection: string,
): string => {
  const credential =
    federation === undefined
      ? '--key key.json'
      : `--provider ${shellWord(federation.provider)} --service-account ${shellWord(federation.serviceAccount)}`;
  const address = shellWord(administrator);
  return `groupsync connect ${connection} --directory ${kind} --administrator ${address} ${credential}`;
};
