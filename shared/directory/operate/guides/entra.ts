import type { DirectoryOf } from '../../../contract/directory-settings.ts';
import { ENTRA_CLOUDS, entraCloudOf } from '../../../contract/entra-clouds.ts';
import { shellWord } from '../../../operate/names.ts';
import { connectCommand, fixOfWebIdentity, type Guide } from './guide.ts';

const PAGE = 'docs/read-entra.md';

/** The Microsoft Graph application permission for each right. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  groups: 'GroupMember.Read.All',
  members: 'GroupMember.Read.All',
  users: 'User.Read.All',
  reports: 'GroupMember.Read.All and User.Read.All',
};

export const entraGuide: Guide<'entra'> = {
  page: PAGE,
  expected:
    '--tenant ID and --client-id ID, and the client secret on standard input with --secret-stdin, or --federated',

  describe(options) {
    const { tenant, clientId, cloud = 'public', federated = false, secretStdin = false } = options;
    const { audience = entraCloudOf(cloud).audience, directoryUrl: baseUrl } = options;
    if (tenant === undefined || clientId === undefined || (federated && secretStdin)) return undefined;
    const setting = {
      kind: 'entra',
      tenant,
      clientId,
      cloud,
      ...(federated && { federation: { audience } }),
      ...(baseUrl !== undefined && { baseUrl }),
    };
    return {
      setting,
      secret: federated
        ? undefined
        : { kind: 'text', field: 'clientSecret', title: 'Client secret', isPiped: secretStdin },
    };
  },

  /** A tenant in another cloud is another account. */
  withStored(options, { tenant, cloud, federation, baseUrl }) {
    const { cloud: named = cloud } = options;
    if (options.tenant !== tenant || named !== cloud) return options;
    const audience = federation === undefined ? {} : { audience: federation.audience };
    return { ...(baseUrl && { directoryUrl: baseUrl }), cloud, ...audience, ...options };
  },

  optionsOf({ tenant, clientId, cloud, federation }) {
    const credential = federation === undefined ? '--secret-stdin' : '--federated';
    const national = cloud === 'public' ? '' : ` --cloud ${cloud}`;
    return `entra --tenant ${shellWord(tenant)} --client-id ${shellWord(clientId)}${national} ${credential}`;
  },

  fixOf({ step, reason }, setting, connection) {
    switch (step) {
      case 'credential':
        return `${PAGE}, step 3: store the client secret again:\n${connectCommand(connection, entraGuide.optionsOf(setting))}`;
      case 'web identity':
        return fixOfWebIdentity(`${PAGE}, step 1`, reason);
      case 'token exchange':
        return fixOfSignIn(reason, setting);
      default:
        if (reason === 'InvalidAuthenticationToken') return fixOfCloud(setting);
        if (reason?.endsWith('BadRequest') === true)
          return 'match or people.exclude names a custom attribute that users of this tenant do not have: groupsync connections show';
        return `${PAGE}, step 2: give the application the permission ${permissionFor(step, reason)} of Microsoft Graph (Application, not Delegated), and grant admin consent. It may take a few minutes`;
    }
  },

  fixOfBusy: () =>
    'wait a few minutes: Microsoft Graph limits calls or is not available. If it lasts, another program may use the same application',
};

/** Reading hidden memberships needs a separate permission. If it is missing, it is the reason of the failed step. */
const permissionFor = (step: string, reason: string | null): string | undefined =>
  reason === 'Member.Read.Hidden' ? reason : PERMISSIONS[step];

/** Returns the fix for a code of the token endpoint (Microsoft Entra authentication and authorization error codes). */
function fixOfSignIn(reason: string | null, setting: DirectoryOf<'entra'>): string {
  const { clientId, federation } = setting;
  switch (reason) {
    case 'AADSTS90002': // no such tenant
    case 'AADSTS900382': // an application of another cloud
    case 'AADSTS500011': // no Microsoft Graph with this address
      return fixOfCloud(setting);
    case 'AADSTS700016':
      return `${PAGE}, step 1: the tenant has no application ${clientId}: expected the application (client) id`;
    case 'AADSTS7000215':
      return `${PAGE}, step 1: the secret is not the value of a client secret of the application. The value is not the secret id`;
    case 'AADSTS7000222':
      return `${PAGE}, step 1: the client secret has expired: create another one`;
    case 'AADSTS700211':
      return `${PAGE}, step 1: the federated credential must have the issuer of this AWS account:\naws iam get-outbound-web-identity-federation-info`;
    case 'AADSTS700212':
      return `${PAGE}, step 1: the federated credential must have the audience ${federation?.audience}`;
    case 'AADSTS700213':
      return `${PAGE}, step 1: the federated credential must have the role of the function as subject: the output DirectoryRoleArn of the stack`;
    default:
      return `${PAGE}, step 1: tenant, client id and credential must belong to one application`;
  }
}

function fixOfCloud({ tenant, cloud, baseUrl }: DirectoryOf<'entra'>): string {
  const { title, login, graph } = entraCloudOf(cloud);
  const hosts = baseUrl ?? `${login}, ${graph}`;
  return `${PAGE}, step 1: there is no tenant ${tenant} in the cloud ${cloud} (${title}: ${hosts}): expected the directory (tenant) id. If this id is right, connect again with the cloud of the tenant: --cloud ${ENTRA_CLOUDS.join(', ')}`;
}
