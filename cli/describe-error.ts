import { InvalidSettingError } from '../shared/contract/change-setting.ts';
import { NotFound } from '../shared/operate/names.ts';
import { NotKnown } from '../shared/operate/past.ts';
import { EXIT, type ExitCode, HintedError, UsageError } from './io.ts';
import { visible } from './output/words.ts';

const EXITS = [
  [UsageError, EXIT.usage],
  [NotKnown, EXIT.attention],
  [NotFound, EXIT.failed],
] as const;

/** Texts for AWS errors, by error name. `…` stands for the SDK's message. */
const BY_NAME: readonly (readonly [name: RegExp, text: string])[] = [
  [
    /^CredentialsProviderError$/,
    'no AWS credentials were found.\nGive --profile, sign in (aws sso login), or use --local for the stack of npm start.',
  ],
  [
    /^(ExpiredToken\w*|InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException)$/,
    'AWS does not accept the credentials: …\nSign in again, or give another --profile.',
  ],
  [/AccessDenied\w*$/, 'AWS refused the request: …\nAsk for the permissions in docs/access.md.'],
  [/^ResourceNotFoundException$/, 'not found: …; check --region and --prefix\nnext: groupsync doctor'],
  [/^MissingPart$/, '…; check --region, --prefix and --profile\nnext: groupsync doctor'],
  [/^(TimeoutError|NetworkingError)$/, 'no response: …\nCheck the network, then retry.'],
];

/**
 * Returns the text for the operator: what happened and, if known, the next step. In the chain of causes, the first
 * error with a known text is used. If there is none, the outermost error is used.
 */
export function describeError(error: unknown): { readonly exitCode: ExitCode; readonly text: string } {
  const code = EXITS.find(([kind]) => error instanceof kind)?.[1];
  if (code !== undefined && error instanceof Error) return { exitCode: code, text: error.message };
  if (error instanceof InvalidSettingError) return { exitCode: EXIT.usage, text: error.problems.join('\n') };
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    const known = knownText(cause);
    if (known !== undefined) return { exitCode: EXIT.failed, text: known };
    cause = cause.cause;
  }
  const { name = 'Error', message: reported = String(error) } = error instanceof Error ? error : {};
  // The message may contain external text, so control characters and line breaks are made visible.
  const message = visible(reported);
  const next = name === 'PlatformFailure' ? 'groupsync doctor --faults' : undefined;
  const step = error instanceof HintedError ? error.next : next;
  const nextLine = step === undefined ? '' : `\nnext: ${step}`;
  const text = PLAIN_MESSAGE.test(name) ? `${message}${nextLine}` : `${message} (${name})`;
  return { exitCode: EXIT.failed, text };
}

const PLAIN_MESSAGE =
  /^(?:Error|FunctionFailed|PlatformFailure|SecretError|ConfigError|StoreError|InvalidSettingsError|Stopped|Refused|HintedError)$/;
const MAX_CAUSES = 6;

function knownText(error: Error): string | undefined {
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
