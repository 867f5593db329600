import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';

/** Where the tool's AWS clients point: an account, by the SDK's own rules, or the emulators of a local stack. */
export interface AwsTarget {
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  readonly local?: {
    readonly dynamodb: string;
    readonly sqs: string;
    readonly secretsManager: string;
    readonly lambda: string;
    readonly scheduler: string;
  };
}

export type Sdk = ReturnType<typeof createSdk>;

/** A person waits: a part that cannot be reached is told after seconds, not minutes. */
const MAX_ATTEMPTS = 3;

export function createSdk({ region, profile, local }: AwsTarget) {
  const common = {
    maxAttempts: MAX_ATTEMPTS,
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(local === undefined ? {} : { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  };
  const at = (endpoint: string | undefined) => (endpoint === undefined ? common : { ...common, endpoint });
  const clients = {
    dynamodb: new DynamoDBClient(at(local?.dynamodb)),
    sqs: new SQSClient(at(local?.sqs)),
    secrets: new SecretsManagerClient(at(local?.secretsManager)),
    lambda: new LambdaClient(at(local?.lambda)),
    scheduler: new SchedulerClient(at(local?.scheduler)),
    sts: new STSClient(common),
  };
  return {
    ...clients,
    region: async (): Promise<string> => clients.sqs.config.region(),
    /** Of requests to a service that has no client here. A client keeps the first name that it signs with, so it is its own. */
    signer: async (signingName: string) => {
      const { config } = new STSClient(common);
      const signingRegion = await config.region();
      return config.signer({ name: 'sigv4', signingName, signingRegion, properties: {} });
    },
    close: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}
