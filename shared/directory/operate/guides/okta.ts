import { shellWord } from '../../../operate/names.ts';
import { connectCommand, type Guide } from './guide.ts';

const PAGE = 'docs/read-okta.md';

const SCOPES: Readonly<Record<string, string>> = {
  groups: 'okta.groups.read',
  members: 'okta.groups.read',
  users: 'okta.users.read',
  reports: 'okta.logs.read',
};

export const oktaGuide: Guide<'okta'> = {
  page: PAGE,
  expected:
    '--directory-url URL, and --client-id ID with --key FILE or --key-arn ARN, or an API token on standard input with --secret-stdin',

  describe(options) {
    const { directoryUrl: orgUrl, clientId, key, keyArn, secretStdin = false } = options;
    const hasOneCredential =
      clientId === undefined
        ? key === undefined && keyArn === undefined
        : !secretStdin && (key === undefined) !== (keyArn === undefined);
    if (orgUrl === undefined || !hasOneCredential) return undefined;
    const setting = {
      kind: 'okta',
      orgUrl,
      ...(clientId !== undefined && { clientId }),
      ...(keyArn !== undefined && { keyArn }),
    };
    if (keyArn !== undefined) return { setting, secret: undefined };
    if (key !== undefined) return { setting, secret: { kind: 'file', file: key } };
    return { setting, secret: { kind: 'text', field: 'apiToken', title: 'API token', isPiped: secretStdin } };
  },

  withStored: (options) => options,

  optionsOf({ orgUrl, clientId, keyArn }) {
    const application = clientId === undefined ? '' : ` --client-id ${shellWord(clientId)}`;
    const stored = clientId === undefined ? '--secret-stdin' : '--key key.json';
    const credential = keyArn === undefined ? stored : `--key-arn ${shellWord(keyArn)}`;
    return `okta --directory-url ${shellWord(orgUrl)}${application} ${credential}`;
  },

  fixOf({ step, reason }, setting, connection) {
    switch (step) {
      case 'credential':
        return `${PAGE}, step 2: store the key or the token again:\n${connectCommand(connection, oktaGuide.optionsOf(setting))}`;
      case 'signature':
        return `${PAGE}, step 1: the key ${setting.keyArn} must be an enabled RSA key for signatures, and the function must be allowed to sign with it:\nnpx groupsync deploy --set directoryKeys=${setting.keyArn}`;
      case 'token exchange':
        return reason === 'invalid_client'
          ? `${PAGE}, step 1: Okta must have an active application with the client id ${setting.clientId} and the public key of this private key`
          : `${PAGE}, step 1: grant the scopes okta.groups.read, okta.users.read and okta.logs.read to the application ${setting.clientId}`;
      default:
        return fixOfRight(step, reason, setting.clientId);
    }
  },

  fixOfBusy: () =>
    'wait a few minutes: the rate limit of Okta is reached or Okta is not available. If it lasts, Reports → Rate Limits in the Okta Admin Console shows the program that uses the limit',
};

function fixOfRight(step: string, reason: string | null, clientId: string | undefined): string {
  if (clientId === undefined) {
    return reason === 'E0000011'
      ? `${PAGE}, step 1: the API token was revoked or has expired. Create another one and connect again`
      : `${PAGE}, step 1: the administrator who created the API token must be at least a read-only administrator`;
  }
  if (reason === 'consent_required' || reason === 'missing_scope' || reason === 'insufficient_scope') {
    return `${PAGE}, step 1: grant the scope ${SCOPES[step]} to the application ${clientId} (Okta API Scopes)`;
  }
  return `${PAGE}, step 1: grant the scope ${SCOPES[step]} to the application ${clientId}, and the role Read-only Administrator without a resource set`;
}
