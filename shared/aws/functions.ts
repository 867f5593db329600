import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { functionName } from '../contract/names.ts';
import { FunctionFailed, type Functions } from '../sync/ports/deployment.ts';

const Failure = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

/** Runs deployed functions through Lambda's API and waits for their answers, up to Lambda's own 15 minutes. */
export function createFunctions(client: LambdaClient, prefix: string): Functions {
  return {
    async run(name, event) {
      const FunctionName = functionName(prefix, name);
      const { Payload, FunctionError } = await client.send(
        new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
      );
      const answer: unknown = JSON.parse(Payload?.transformToString() || 'null');
      if (FunctionError === undefined) return answer;
      const failure = Failure.safeParse(answer);
      const reason = failure.success ? (failure.data.errorMessage ?? failure.data.errorType) : FunctionError;
      throw new FunctionFailed(`${FunctionName} failed: ${reason ?? FunctionError}`);
    },
  };
}
