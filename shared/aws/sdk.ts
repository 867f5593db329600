import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';

/** The target of the command line's AWS clients: an AWS account, or the emulators of a local stack. */
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

/** The maximum number of attempts per request. It is low, because an operator waits for the result. */
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
    /**
     * Returns a signer for requests to a service. Each call creates a client, because a client signs only for the first
     * service name that it gets.
     */
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
