import { InvalidSettingError } from '../shared/contract/change-setting.ts';
import { NotFound } from '../shared/operate/find-group.ts';
import { Advised, EXIT, type ExitCode, UsageError } from './io.ts';
import { visible } from './output/words.ts';

/** Errors of AWS, by name: what the SDK says is for programmers; `…` stands for it. */
const BY_NAME: readonly (readonly [name: RegExp, text: string])[] = [
  [
    /^CredentialsProviderError$/,
    'no AWS credentials were found.\nGive --profile, sign in (aws sso login), or use --local for the stack of npm start.',
  ],
  [
    /^(ExpiredToken\w*|InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException)$/,
    'AWS does not accept the credentials: …\nSign in again, or give another --profile.',
  ],
  [/AccessDenied\w*$/, 'AWS refused the request: …\nAsk for the permissions in docs/deploy.md.'],
  [/^ResourceNotFoundException$/, 'not found: …; check --region and --prefix\nnext: groupsync doctor'],
  [/^MissingPart$/, '…; check --region, --prefix and --profile\nnext: groupsync doctor'],
  [/^(TimeoutError|NetworkingError)$/, 'no response: …\nCheck the network, then retry.'],
];

/**
 * Says an error to a person, in a line or two: what happened, and what to do next. Of causes the first that is known
 * speaks, else the outermost message.
 */
export function describeError(error: unknown): { readonly exitCode: ExitCode; readonly text: string } {
  if (error instanceof UsageError) return { exitCode: EXIT.usage, text: error.message };
  if (error instanceof NotFound) return { exitCode: EXIT.failed, text: error.message };
  if (error instanceof InvalidSettingError) return { exitCode: EXIT.usage, text: error.problems.join('\n') };
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    const known = sayOf(cause);
    if (known !== undefined) return { exitCode: EXIT.failed, text: known };
    cause = cause.cause;
  }
  const { name = 'Error', message: said = String(error) } = error instanceof Error ? error : {};
  // What others say is in it: a second line could be taken for our own words.
  const message = visible(said);
  const next = name === 'PlatformFailure' ? 'groupsync doctor --faults' : undefined;
  const step = error instanceof Advised ? error.next : next;
  const look = step === undefined ? '' : `\nnext: ${step}`;
  const text = OURS.test(name) ? `${message}${look}` : `${message} (${name})`;
  return { exitCode: EXIT.failed, text };
}

/** Names whose messages were written for people. */
const OURS =
  /^(?:Error|FunctionFailed|PlatformFailure|SecretError|ConfigError|StoreError|Stopped|Refused|Advised)$/;
const MAX_CAUSES = 6;

function sayOf(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (error.message === 'Region is missing') {
    return 'no AWS region is given.\nGive --region or --profile, set AWS_REGION, or use --local for the stack of npm start.';
  }
  if (
    code === 'ECONNREFUSED' ||
    (error instanceof AggregateError && code === undefined && error.message === '')
  ) {
    return 'no response from this address.\nCheck that the local stack (npm start) is running, and that the address is correct.';
  }
  if (code === 'ENOTFOUND') return `${visible(error.message)}.\nCheck the address, --region and the network.`;
  const known = BY_NAME.find(([name]) => name.test(error.name))?.[1];
  return known?.replace('…', () => visible(error.message));
}
