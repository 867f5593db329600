import { ENVIRONMENT, type QueueKey, tableName, WEBHOOK } from '../shared/contract/names.ts';

export const REGION = 'us-east-1';

export interface Endpoints {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly secretsManager: string;
  readonly lambda: string;
  readonly scheduler: string;
}

/**
 * Environment variables that would make the AWS SDK use a user's profile or real endpoints instead of the emulators.
 */
const OVERRIDING_VARIABLES = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
];

/** Returns the environment variables of the handlers: those of a deployed stack, with the emulators' addresses. */
export function functionEnvironment(stack: {
  prefix: string;
  coalesceSeconds: number;
  endpoints: Endpoints;
  queueUrls: Readonly<Record<QueueKey, string>>;
  hasWebhook: boolean;
}): Record<string, string> {
  const { endpoints, queueUrls } = stack;
  return {
    [ENVIRONMENT.prefix]: stack.prefix,
    [ENVIRONMENT.table]: tableName(stack.prefix),
    [ENVIRONMENT.eventsQueueUrl]: queueUrls.events,
    [ENVIRONMENT.applyQueueUrl]: queueUrls.apply,
    [ENVIRONMENT.eventsDlqUrl]: queueUrls.eventsDlq,
    [ENVIRONMENT.applyDlqUrl]: queueUrls.applyDlq,
    [ENVIRONMENT.coalesceSeconds]: String(stack.coalesceSeconds),
    [ENVIRONMENT.createSettleSeconds]: '5',
    [ENVIRONMENT.notify]: stack.hasWebhook ? WEBHOOK : '',
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SCHEDULER: endpoints.scheduler,
  };
}

/** Sets the environment variables of the handlers. The caller must do this before the first call of a handler. */
export function setEnvironment(values: Readonly<Record<string, string>>): void {
  for (const name of OVERRIDING_VARIABLES) delete process.env[name];
  Object.assign(process.env, values);
}
