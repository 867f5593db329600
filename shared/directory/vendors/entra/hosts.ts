import { type EntraCloud, entraCloudOf } from '../../../contract/entra-clouds.ts';

/**
 * Returns the base URLs of Microsoft's services, without a slash at the end.
 * @param baseUrl base URL of another host for Graph and the token endpoint, such as a simulator; undefined means the
 * hosts of the cloud
 */
export function hostsOf(cloud: EntraCloud, baseUrl: string | undefined) {
  const { graph, login } = entraCloudOf(cloud);
  return {
    graph: baseUrl ?? graph,
    /** The token endpoints of all tenants are below this URL. */
    login: baseUrl ?? login,
    /** The scope of the access token: all application permissions that an administrator has granted. */
    scope: `${graph}/.default`,
  };
}
