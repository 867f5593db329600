import type { Environment } from './cdk.ts';

export const REGION = 'eu-west-1';
export const ACCOUNT = '123456789012';

/** The bucket for the code of functions, which `cdk bootstrap` creates. */
export const ASSETS = `cdk-hnb659fds-assets-${ACCOUNT}-${REGION}`;

/** The rules of the account for the second stage: the permissions boundary of its roles, and its bootstrap. */
export const BOUNDARY = `arn:aws:iam::${ACCOUNT}:policy/boundary`;
export const QUALIFIER = 'acme1';

/** Returns an environment for the CDK CLI and the functions, without the AWS configuration of the user. */
export function environmentFor(endpoint: string): Environment {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const s3 = new URL(endpoint);
  s3.hostname = 'localhost';
  return {
    PATH,
    HOME,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    AWS_ENDPOINT_URL: endpoint,
    // The address from which CloudFormation reads the template. With the host name "localhost", emulators can separate
    // the bucket name from the host.
    AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION:
      process.env['AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION'] ?? s3.origin,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
    AWS_SESSION_TOKEN: 'testing',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    CDK_DEFAULT_ACCOUNT: ACCOUNT,
    CDK_DEFAULT_REGION: REGION,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    NO_PROXY: '127.0.0.1,localhost',
  };
}
