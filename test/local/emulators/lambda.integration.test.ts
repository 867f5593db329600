import { GetFunctionConfigurationCommand, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it, vi } from 'vitest';
import { createLambda } from '../../../local/emulators/lambda.ts';
import type { LocalFunction } from '../../../local/invocation.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startFront } from '../support/front.ts';

const NAME = 'groupsync-reconcile';

async function start(handler: LocalFunction['handler'], timeoutSeconds = 5) {
  const functions = new Map([[NAME, { name: NAME, timeoutSeconds, handler }]]);
  const client = new LambdaClient(await startFront(createLambda(functions)));
  const call = (payload: string, more: { InvocationType?: 'Event' | 'DryRun'; FunctionName?: string } = {}) =>
    client.send(new InvokeCommand({ FunctionName: NAME, Payload: payload, ...more }));
  return { client, call };
}

describe('Lambda emulator with the SDK', () => {
  it('the answer to an invocation contains the error of the function', async () => {
    const { call } = await start(() => Promise.reject(new TypeError('broken')));
    const answer = await call('{}');
    expect(answer.StatusCode).toBe(200);
    expect(answer.FunctionError).toBe('Unhandled');
    expect(JSON.parse(answer.Payload?.transformToString() ?? '')).toMatchObject({
      errorType: 'TypeError',
      errorMessage: 'broken',
    });
  });

  it('the answer to an invocation contains an error if the function does not end in time', async () => {
    const { call } = await start(() => new Promise(() => {}), 0.05);
    const answer = await call('{}');
    expect(answer.FunctionError).toBe('Unhandled');
    expect(answer.Payload?.transformToString()).toContain('timed out after 0.05 s');
  });

  it('an asynchronous invocation is answered before the function ends', async () => {
    let finish: (() => void) | undefined;
    let done = false;
    const { call } = await start(async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      done = true;
    });
    expect((await call('{}', { InvocationType: 'Event' })).StatusCode).toBe(202);
    expect(done).toBe(false);
    finish?.();
    await vi.waitUntil(() => done, { timeout: PATIENCE_MS, interval: 5 });
  });

  it('the Lambda emulator shows the configuration of a function, and refuses a missing function and invalid JSON', async () => {
    const { client, call } = await start(() => undefined);
    const configuration = await client.send(new GetFunctionConfigurationCommand({ FunctionName: NAME }));
    expect(configuration).toMatchObject({ FunctionName: NAME, Timeout: 5, State: 'Active' });
    await expect(call('{}', { FunctionName: 'groupsync-none' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    await expect(call('{')).rejects.toMatchObject({ name: 'InvalidRequestContentException' });
  });
});
