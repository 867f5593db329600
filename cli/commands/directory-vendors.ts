import { type EntraCloud, entraCloudOf } from '../../shared/contract/entra-clouds.ts';
import {
  addressOfDirectory,
  type DirectoryKind,
  type DirectorySetting,
} from '../../shared/contract/settings.ts';
import { UsageError } from '../io.ts';

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

interface DescribedDirectory {
  readonly setting: object;
  /** Undefined if the deployed function signs in with its role and needs no secret. */
  readonly secret: SecretSource | undefined;
}

function google(options: DirectoryOptions): DescribedDirectory | undefined {
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
}

function entra(options: DirectoryOptions): DescribedDirectory | undefined {
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
}

function okta(options: DirectoryOptions): DescribedDirectory | undefined {
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
}

interface VendorOptions {
  /** Returns undefined if a required option is missing, or if options exclude each other. */
  describe(options: DirectoryOptions): DescribedDirectory | undefined;
  readonly expected: string;
}

const VENDORS: Readonly<Record<DirectoryKind, VendorOptions>> = {
  google: {
    describe: google,
    expected: '--administrator ADDRESS, and --key FILE or --provider NAME with --service-account ADDRESS',
  },
  entra: {
    describe: entra,
    expected:
      '--tenant ID and --client-id ID, and the client secret on standard input with --secret-stdin, or --federated',
  },
  okta: {
    describe: okta,
    expected:
      '--directory-url URL, and --client-id ID with --key FILE or --key-arn ARN, or an API token on standard input with --secret-stdin',
  },
};

export const isSameDirectory = (one: DirectorySetting, other: DirectorySetting): boolean =>
  one.kind === other.kind &&
  accountOf(one) === accountOf(other) &&
  addressOfDirectory(one).url === addressOfDirectory(other).url;

function accountOf(setting: DirectorySetting): string {
  if (setting.kind === 'google') return setting.administrator;
  return setting.kind === 'entra' ? `${setting.cloud} ${setting.tenant}` : setting.orgUrl;
}

/**
 * Fills in a missing address, cloud or audience from the stored setting, if it is for the same account of Google or
 * Entra ID. A tenant in another cloud is another account.
 */
export function withStoredOptions(
  kind: DirectoryKind,
  options: DirectoryOptions,
  stored: DirectorySetting | null,
): DirectoryOptions {
  if (stored === null || stored.kind !== kind || stored.kind === 'okta') return options;
  const directoryUrl = options.directoryUrl ?? stored.baseUrl;
  const address = directoryUrl === undefined ? {} : { directoryUrl };
  if (stored.kind === 'google') {
    return options.administrator === stored.administrator ? { ...options, ...address } : options;
  }
  const { cloud = stored.cloud, audience = stored.federation?.audience } = options;
  if (options.tenant !== stored.tenant || cloud !== stored.cloud) return options;
  return { ...options, ...address, cloud, ...(audience !== undefined && { audience }) };
}

/** Returns the directory that the options describe. @throws UsageError */
export function describeDirectory(kind: DirectoryKind, options: DirectoryOptions): DescribedDirectory {
  const { describe, expected } = VENDORS[kind];
  const described = describe(options);
  if (described === undefined) throw new UsageError(`--directory: expected ${expected}`);
  return described;
}
