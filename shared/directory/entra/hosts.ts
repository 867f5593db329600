/** Base URLs of Microsoft's services, without a slash at the end. */
interface Hosts {
  readonly graph: string;
  /** The token endpoints of all tenants are below this URL. */
  readonly login: string;
}

const MICROSOFT: Hosts = {
  graph: 'https://graph.microsoft.com',
  login: 'https://login.microsoftonline.com',
};

/**
 * @param baseUrl base URL of another host for Graph and the token endpoint, such as a simulator; undefined means
 * Microsoft
 */
export const hostsOf = (baseUrl: string | undefined): Hosts =>
  baseUrl === undefined ? MICROSOFT : { graph: baseUrl, login: baseUrl };
