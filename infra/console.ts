import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Construct } from 'constructs';
import type { ConsoleSignIn } from '../shared/contract/console.ts';
import { consoleSecretName, ENVIRONMENT } from '../shared/contract/names.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';
import { addHttpApi, HTTP_TIMEOUT_SECONDS } from './http-api.ts';
import { noDecisions, type Resources, secretArn, statement } from './permissions.ts';

/** Requests per second. An opened page first sends a few requests, and then one request every ten seconds. */
const RATE_LIMIT = 50;
const BURST_LIMIT = 100;

export interface ConsoleProps extends Omit<ConnectorFunctionProps, 'name' | 'timeoutSeconds'> {
  readonly signIn: ConsoleSignIn;
  /**
   * The address of the console, if the console has its own domain. Otherwise people open the address of the HTTP API.
   */
  readonly customUrl: string | undefined;
}

export class Console extends Construct {
  readonly worker: ConnectorFunction;
  readonly api: HttpApi;
  readonly url: string;
  readonly hasSecret: boolean;

  constructor(scope: Construct, id: string, { signIn, customUrl, ...props }: ConsoleProps) {
    super(scope, id);
    this.worker = new ConnectorFunction(this, 'Worker', {
      ...props,
      name: 'console',
      timeoutSeconds: HTTP_TIMEOUT_SECONDS,
    });
    const { api } = addHttpApi(
      this,
      {
        name: 'console',
        description: 'The console of groupsync',
        worker: this.worker,
        paths: ['/', '/{proxy+}'],
        whyNoAuthorizer:
          'Browsers have a cookie, not a token. The function sends people without a session to the provider, and refuses their requests for data.',
        rateLimit: RATE_LIMIT,
        burstLimit: BURST_LIMIT,
      },
      props,
    );
    this.hasSecret = signIn.hasSecret;
    this.url = customUrl ?? api.apiEndpoint;
    this.worker.function.addEnvironment(ENVIRONMENT.console, JSON.stringify(signIn));
    this.worker.function.addEnvironment(ENVIRONMENT.consoleUrl, this.url);
    this.api = api;
  }
}

export interface CalledByConsole extends Resources {
  readonly ingest: ConnectorFunction;
  readonly reconcile: ConnectorFunction;
  readonly people: ConnectorFunction;
  /** Undefined if the stage has no SCIM server. */
  readonly scimUrl: string | undefined;
}

/**
 * The permissions of the console beyond the table and the queues. The console may not read the credentials of
 * connections, and may not write decisions about held removals. It calls the function `reconcile` for both.
 */
export function grantConsole({ worker: { role }, hasSecret }: Console, on: CalledByConsole): void {
  const { prefix, table } = on;
  const called = [on.reconcile, on.people].map(({ function: { functionArn } }) => functionArn);
  const secret = secretArn(role, `${consoleSecretName(prefix)}-??????`);
  for (const each of [
    ...statement('CallFunctions', 'lambda', ['InvokeFunction'], called),
    // The environment of ingest shows the connection to which the queue of a source belongs.
    ...statement('ReadBindings', 'lambda', ['GetFunctionConfiguration'], [on.ingest.function.functionArn]),
    noDecisions([table.tableArn]),
    ...statement('ReadClientSecret', 'secretsmanager', hasSecret ? ['GetSecretValue'] : [], [secret]),
  ]) {
    role.addToPolicy(each);
  }
}
