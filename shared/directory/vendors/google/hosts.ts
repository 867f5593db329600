/** Base URLs of Google's services, without a slash at the end. */
const GOOGLE = {
  api: 'https://admin.googleapis.com',
  /** The complete URL of the token endpoint. */
  token: 'https://oauth2.googleapis.com/token',
  /** Security Token Service. */
  sts: 'https://sts.googleapis.com',
  /** IAM Credentials. */
  iam: 'https://iamcredentials.googleapis.com',
};

/** @param baseUrl base URL of another host with all these APIs, such as a simulator; undefined means Google */
export const hostsOf = (baseUrl: string | undefined): typeof GOOGLE =>
  baseUrl === undefined ? GOOGLE : { api: baseUrl, token: `${baseUrl}/token`, sts: baseUrl, iam: baseUrl };
