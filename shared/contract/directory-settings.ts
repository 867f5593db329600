import * as z from 'zod';
import { looksLikeAddress } from './address.ts';
import { ENTRA_CLOUDS } from './entra-clouds.ts';
import { BaseUrl, expecting, object, oneOf, textThat, trueOrFalse } from './setting-forms.ts';

/** A name that the vendor defines. groupsync does not check its form. */
const vendorName = (what: string) => textThat(what, (text) => text.length > 0 && text.length <= 1_000);

const OF_EVERY_DIRECTORY = {
  /** Whether the reader sends events to correct a group of another source that has the same id as its own group. */
  corrects: trueOrFalse.optional(),
};
/** The address of another server with the same API, such as a simulator. */
const otherServer = BaseUrl.optional();

const Google = object('an object {kind, administrator, federation?, baseUrl?, corrects?}', {
  kind: z.literal('google'),
  /** The administrator on whose behalf the reader acts (domain-wide delegation). */
  administrator: textThat('the e-mail address of an administrator', looksLikeAddress),
  /** Sign-in with the role of the function; absent if the reader signs in with a stored key. */
  federation: object('an object {provider, serviceAccount}', {
    /** The full name of the provider in the workload identity pool: `//iam.googleapis.com/projects/…`. */
    provider: vendorName('the full name of a workload identity provider'),
    serviceAccount: vendorName('the address of a service account'),
  }).optional(),
  baseUrl: otherServer,
  ...OF_EVERY_DIRECTORY,
});

const Entra = object('an object {kind, tenant, clientId, cloud?, federation?, baseUrl?, corrects?}', {
  kind: z.literal('entra'),
  tenant: vendorName('the id or domain of a tenant'),
  clientId: vendorName('the client id of an application'),
  /** The cloud of the tenant. The hosts and the scope of the sign-in follow from it. */
  cloud: oneOf(ENTRA_CLOUDS).default('public'),
  /** Sign-in with the role of the function; absent if the reader signs in with a stored client secret. */
  federation: object('an object {audience}', {
    audience: vendorName('the audience of a federated credential'),
  }).optional(),
  baseUrl: otherServer,
  ...OF_EVERY_DIRECTORY,
});

const Okta = object('an object {kind, orgUrl, clientId?, keyArn?, corrects?}', {
  kind: z.literal('okta'),
  /** The URL of the organisation. The reader sends every request to this host. */
  orgUrl: BaseUrl,
  /** The client id of the reader's application; absent if the reader signs in with a stored API token. */
  clientId: vendorName('the client id of an application').optional(),
  /** The KMS key of the application; absent if the reader signs in with a stored private key or API token. */
  keyArn: vendorName('the ARN of a KMS key').optional(),
  ...OF_EVERY_DIRECTORY,
});

const SCHEMAS = [Google, Entra, Okta] as const;
export const DIRECTORY_KINDS = SCHEMAS.map(({ shape }) => shape.kind.value);
export type DirectoryKind = (typeof DIRECTORY_KINDS)[number];

/** A directory that groupsync reads through its API. */
export const DirectorySource = z.discriminatedUnion(
  'kind',
  SCHEMAS,
  expecting(`an object with the kind ${DIRECTORY_KINDS.join(', ')}, or null for none`),
);
export type DirectorySetting = z.infer<typeof DirectorySource>;
export type DirectoryOf<Kind extends DirectoryKind> = Extract<DirectorySetting, { readonly kind: Kind }>;

interface Vendor<Kind extends DirectoryKind> {
  accountOf(setting: DirectoryOf<Kind>): string;
  /**
   * Settings with different texts read different groups. The setting of Google does not name the organisation, and
   * another administrator may read the same groups.
   */
  groupsOf(setting: DirectoryOf<Kind>): string;
  /** The key of the setting with the address of a server, and the address; undefined for the vendor's own address. */
  addressOf(setting: DirectoryOf<Kind>): { readonly key: string; readonly url: string | undefined };
}

const VENDORS: { readonly [Kind in DirectoryKind]: Vendor<Kind> } = {
  google: {
    accountOf: ({ administrator }) => administrator,
    groupsOf: () => '',
    addressOf: ({ baseUrl: url }) => ({ key: 'directory.baseUrl', url }),
  },
  entra: {
    accountOf: ({ cloud, tenant }) => `${cloud} ${tenant}`,
    groupsOf: ({ cloud, tenant }) => `${cloud} ${tenant}`,
    addressOf: ({ baseUrl: url }) => ({ key: 'directory.baseUrl', url }),
  },
  okta: {
    accountOf: ({ orgUrl }) => orgUrl,
    groupsOf: ({ orgUrl }) => orgUrl,
    addressOf: ({ orgUrl: url }) => ({ key: 'directory.orgUrl', url }),
  },
};

const vendorOf = <Kind extends DirectoryKind>({ kind }: { readonly kind: Kind }): Vendor<Kind> =>
  VENDORS[kind];

/** True if both settings name the same account at the same server. */
export const isSameDirectory = (one: DirectorySetting, other: DirectorySetting): boolean =>
  one.kind === other.kind &&
  vendorOf(one).accountOf(one) === vendorOf(other).accountOf(other) &&
  addressOfDirectory(one).url === addressOfDirectory(other).url;

/** Two directories with different texts have different groups. */
export const groupsOfDirectory = (setting: DirectorySetting | null): string =>
  setting === null ? '' : `${setting.kind} ${vendorOf(setting).groupsOf(setting)}`;
export const addressOfDirectory = (setting: DirectorySetting) => vendorOf(setting).addressOf(setting);
