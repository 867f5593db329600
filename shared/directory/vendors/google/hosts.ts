/** Base URLs of Google's services, without a slash at the end. */
interface Hosts {
  /** The base URL of the Directory API and the Reports API. */
  readonly api: string;
  /** The complete URL of the token endpoint. */
  readonly token: string;
  /** Security Token Service. */
  readonly sts: string;
  /** IAM Credentials. */
  readonly iam: string;
}

const GOOGLE: Hosts = {
  api: 'https://admin.googleapis.com',
  token: 'https://oauth2.googleapis.com/token',
  sts: 'https://sts.googleapis.com',
  iam: 'https://iamcredentials.googleapis.com',
};

/** @param baseUrl base URL of another host with all these APIs, such as a simulator; undefined means Google */
export const hostsOf = (baseUrl: string | undefined): Hosts =>
  baseUrl === undefined ? GOOGLE : { api: baseUrl, token: `${baseUrl}/token`, sts: baseUrl, iam: baseUrl };
