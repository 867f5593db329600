import type { DirectoryOf } from '../../../contract/directory-settings.ts';
import { shellWord } from '../../../operate/names.ts';
import { connectCommand, fixOfWebIdentity, type Guide } from './guide.ts';

const PAGE = 'docs/read-google.md';

/** The scope for each right. The administrator of the directory enters it in this form. */
const SCOPES: Readonly<Record<string, string>> = {
  groups: 'https://www.googleapis.com/auth/admin.directory.group.readonly',
  members: 'https://www.googleapis.com/auth/admin.directory.group.member.readonly',
  users: 'https://www.googleapis.com/auth/admin.directory.user.readonly',
  reports: 'https://www.googleapis.com/auth/admin.reports.audit.readonly',
};

export const googleGuide: Guide<'google'> = {
  page: PAGE,
  expected: '--administrator ADDRESS, and --key FILE or --provider NAME with --service-account ADDRESS',

  describe(options) {
    const { administrator, key, provider, serviceAccount, directoryUrl: baseUrl } = options;
    const isFederated = provider !== undefined && serviceAccount !== undefined;
    const isHalf = (provider === undefined) !== (serviceAccount === undefined);
    const hasOneCredential = isFederated !== (key !== undefined) && !isHalf;
    if (administrator === undefined || !hasOneCredential) return undefined;
    const setting = {
      kind: 'google',
      administrator,
      ...(isFederated && { federation: { provider, serviceAccount } }),
      ...(baseUrl !== undefined && { baseUrl }),
    };
    return { setting, secret: key === undefined ? undefined : { kind: 'file', file: key } };
  },

  withStored: (options, { administrator, baseUrl }) =>
    options.administrator === administrator
      ? { ...(baseUrl && { directoryUrl: baseUrl }), ...options }
      : options,

  optionsOf({ administrator, federation }) {
    const credential =
      federation === undefined
        ? '--key key.json'
        : `--provider ${shellWord(federation.provider)} --service-account ${shellWord(federation.serviceAccount)}`;
    return `google --administrator ${shellWord(administrator)} ${credential}`;
  },

  fixOf({ step, reason }, setting, connection) {
    if (reason === 'accessNotConfigured' || reason === 'SERVICE_DISABLED') {
      return `${PAGE}, step 1: the project of the service account has not enabled the API:\ngcloud services enable admin.googleapis.com iamcredentials.googleapis.com sts.googleapis.com`;
    }
    switch (step) {
      case 'credential':
        return `${PAGE}, step 3: store the key file again:\n${connectCommand(connection, googleGuide.optionsOf(setting))}`;
      case 'web identity':
        return fixOfWebIdentity(`${PAGE}, step 1`, reason);
      case 'token exchange':
        if (setting.federation === undefined) return fixOfAdministrator(reason, setting);
        return `${PAGE}, step 1: the provider must exist under this name, trust the issuer of this AWS account, and accept the audience https:${setting.federation?.provider}. The issuer:\naws iam get-outbound-web-identity-federation-info`;
      case 'signature':
        return `${PAGE}, step 1: the role of the function must be workload identity user and token creator of ${setting.federation?.serviceAccount}`;
      case 'administrator':
        return fixOfAdministrator(reason, setting);
      default:
        return fixOfRight(step, reason, setting);
    }
  },

  fixOfBusy: (reason) =>
    reason === 'dailyLimitExceeded'
      ? 'the daily limit of calls of the Google Cloud project is reached. Raise it under APIs & Services → Admin SDK API → Quotas, or wait until midnight in California'
      : 'wait a few minutes: the directory limits calls (2,400 a minute for each user) or is not available. If it lasts, another program may use the same Google Cloud project: APIs & Services → Admin SDK API → Quotas',
};

function fixOfAdministrator(reason: string | null, { administrator }: DirectoryOf<'google'>): string {
  if (reason === 'unauthorized_client') {
    return `${PAGE}, step 2: delegate to the client id of the service account, in one line, these scopes:\n${Object.values(SCOPES).join(',')}`;
  }
  return `${administrator} must exist in the directory and must not be suspended, and the key must not be deleted (${PAGE}, steps 1 and 2)`;
}

function fixOfRight(step: string, reason: string | null, { administrator }: DirectoryOf<'google'>): string {
  if (reason === 'unauthorized_client' || reason === 'insufficientPermissions') {
    return `${PAGE}, step 2: add this scope to the delegation; it may take a few minutes:\n${SCOPES[step]}`;
  }
  return `${PAGE}, step 2: the role of ${administrator} in the Google Admin console must allow reading ${step}`;
}
