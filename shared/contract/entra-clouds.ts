export const ENTRA_CLOUDS = ['public', 'gccHigh', 'dod', 'china'] as const;
export type EntraCloud = (typeof ENTRA_CLOUDS)[number];

interface CloudFacts {
  readonly title: string;
  /** Base URLs without a slash at the end. The token endpoints of all tenants are below `login`. */
  readonly login: string;
  readonly graph: string;
  /** The audience that Microsoft recommends for federated credentials. */
  readonly audience: string;
}

/**
 * The clouds of Entra ID (Microsoft Entra authentication and national clouds; Microsoft Graph national cloud
 * deployments). A tenant is in one cloud, and only the hosts of this cloud know it. Both clouds of the US Government
 * sign in at the same host.
 */
const CLOUDS: Readonly<Record<EntraCloud, CloudFacts>> = {
  public: {
    title: 'public cloud',
    login: 'https://login.microsoftonline.com',
    graph: 'https://graph.microsoft.com',
    audience: 'api://AzureADTokenExchange',
  },
  gccHigh: {
    title: 'US Government GCC High',
    login: 'https://login.microsoftonline.us',
    graph: 'https://graph.microsoft.us',
    audience: 'api://AzureADTokenExchangeUSGov',
  },
  dod: {
    title: 'US Government DoD',
    login: 'https://login.microsoftonline.us',
    graph: 'https://dod-graph.microsoft.us',
    audience: 'api://AzureADTokenExchangeUSGov',
  },
  china: {
    title: 'China, operated by 21Vianet',
    login: 'https://login.partner.microsoftonline.cn',
    graph: 'https://microsoftgraph.chinacloudapi.cn',
    audience: 'api://AzureADTokenExchangeChina',
  },
};

export const entraCloudOf = (cloud: EntraCloud): CloudFacts => CLOUDS[cloud];
