import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

export interface LocalFunction {
  readonly name: string;
  readonly timeoutSeconds: number;
  readonly handler: (event: unknown, context: Context) => unknown;
}

/** Lambda's response: the function's result as JSON text, or the function's error. */
export type InvocationResult =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly errorType: string; readonly errorMessage: string };

/**
 * Runs a function as Lambda does. Event and result are serialised as JSON, a thrown error becomes a result, and a
 * timeout counts as a failure. Unlike in Lambda, the function continues after a timeout, and its result is ignored.
 */
export async function invoke(fn: LocalFunction, event: unknown): Promise<InvocationResult> {
  const deadlineMs = Date.now() + fn.timeoutSeconds * 1000;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new InvocationTimeout(fn.name, fn.timeoutSeconds)),
      fn.timeoutSeconds * 1000,
    );
  });
  try {
    const call = async () => fn.handler(JSON.parse(JSON.stringify(event)), contextOf(fn, deadlineMs));
    const result = await Promise.race([call(), timeout]);
    return { ok: true, payload: JSON.stringify(result ?? null) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { ok: false, errorType: name, errorMessage: message };
  } finally {
    clearTimeout(timer);
  }
}

class InvocationTimeout extends Error {
  constructor(name: string, seconds: number) {
    super(`${name} timed out after ${seconds} s`);
    this.name = 'Sandbox.Timedout';
  }
}

export const functionArn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;

function contextOf({ name }: LocalFunction, deadlineMs: number): Context {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: functionArn(name),
    memoryLimitInMB: '1024',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
    // These callbacks do nothing, because Lambda's runtime for Node 24 has no callbacks.
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
}
