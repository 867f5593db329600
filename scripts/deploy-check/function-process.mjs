// One container of a deployed function. The process loads the bundle once, and then handles each event that it
// receives.
import { pathToFileURL } from 'node:url';

const [file] = process.argv.slice(2);
const { handler } = await import(pathToFileURL(file).href);
process.send({ ready: true });

process.on('message', async ({ id, event, timeoutMs }) => {
  const endsAt = Date.now() + timeoutMs;
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${process.env.AWS_LAMBDA_FUNCTION_NAME}`,
    getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()),
  };
  try {
    process.send({ id, ok: true, result: (await handler(event, context)) ?? null });
  } catch (error) {
    process.send({ id, ok: false, error: String(error?.stack ?? error) });
  }
});
