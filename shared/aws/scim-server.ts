import { GetFunctionConfigurationCommand, GetPolicyCommand } from '@aws-sdk/client-lambda';
import { type Dispatcher, request } from 'undici';
import * as z from 'zod';
import { functionName } from '../contract/names.ts';
import type { Deployment } from '../sync/ports/deployment.ts';
import { unlessMissing, unlessUnsupported } from './deployment.ts';
import type { Sdk } from './sdk.ts';

interface ScimServerOptions {
  readonly prefix: string;
  /** Known already, as on the local stack. */
  readonly scimUrl: string | undefined;
  readonly dispatcher: Dispatcher;
}

const ASKED_FOR_MS = 5_000;

/** The SCIM server of a deployment, which has one only where its settings ask for it. */
export function createScimServer(
  sdk: Sdk,
  { prefix, scimUrl, dispatcher }: ScimServerOptions,
): Pick<Deployment, 'scim' | 'statusOf'> {
  const FunctionName = functionName(prefix, 'scim');
  return {
    scim: async () => {
      if (scimUrl !== undefined) return { state: 'Active', url: scimUrl };
      return unlessMissing(async () => {
        const { State = 'Unknown' } = await sdk.lambda.send(
          new GetFunctionConfigurationCommand({ FunctionName }),
        );
        const policy = await unlessUnsupported(() => sdk.lambda.send(new GetPolicyCommand({ FunctionName })));
        return { state: State, url: urlFrom(policy?.Policy) };
      });
    },

    async statusOf(url) {
      const { statusCode, body } = await request(url, { dispatcher, headersTimeout: ASKED_FOR_MS });
      await body.dump();
      return statusCode;
    },
  };
}

const Policy = z.object({
  Statement: z.array(
    z.object({ Condition: z.object({ ArnLike: z.object({ 'AWS:SourceArn': z.string() }) }) }),
  ),
});

/**
 * The function's policy names the HTTP API that may call it, and the API's id is in its address. The stack's output
 * says the same, but CloudFormation is nothing that the command line needs otherwise.
 */
function urlFrom(policy: string | undefined): string | undefined {
  const parsed = Policy.safeParse(JSON.parse(policy ?? 'null'));
  if (!parsed.success) return undefined;
  for (const { Condition } of parsed.data.Statement) {
    const [, partition, region, api] =
      /^arn:([^:]+):execute-api:([^:]+):[^:]*:([^/]+)\//.exec(Condition.ArnLike['AWS:SourceArn']) ?? [];
    if (api === undefined) continue;
    const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
    return `https://${api}.execute-api.${region}.${suffix}/scim/v2`;
  }
  return undefined;
}
