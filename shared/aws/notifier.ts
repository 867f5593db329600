import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { Dispatcher } from 'undici';
import { parseJson } from '../contract/json.ts';
import { notifySecretName, WEBHOOK } from '../contract/names.ts';
import { parsedUrl } from '../contract/url.ts';
import type { Notice } from '../domain/notice.ts';
import type { Notifier } from '../sync/ports/notices.ts';

interface NotifierOptions {
  readonly prefix: string;
  readonly consoleUrl?: string | undefined;
  readonly targets: readonly string[];
  readonly sns: SNSClient;
  readonly secrets: SecretsManagerClient;
  readonly dispatcher: Dispatcher;
  /** True on the local stack, where http to this machine is allowed. */
  readonly isLocal: boolean;
}

const ANSWERED_WITHIN_MS = 5_000;
/** SNS accepts at most 100 ASCII characters as the subject of an e-mail. */
const MAX_SUBJECT = 100;

/** The notifier could not send a notice. The message does not contain the webhook's URL, which is a secret. */
class NotSent extends Error {
  override readonly name = 'NotSent';
}

export function createNotifier(options: NotifierOptions): Notifier {
  const { prefix, consoleUrl, targets } = options;
  return {
    prefix,
    consoleUrl,
    targets,
    async send(notice) {
      const failures = new Map<string, string>();
      const sendTo = (target: string) =>
        target === WEBHOOK ? post(notice, options) : publish(target, notice, options.sns);
      const failed = (target: string, error: Error) =>
        failures.set(target, error instanceof NotSent ? error.message : error.name);
      await Promise.all(targets.map((one) => sendTo(one).catch((error: Error) => failed(one, error))));
      return failures;
    },
  };
}

async function publish(TopicArn: string, notice: Notice, sns: SNSClient): Promise<void> {
  const Subject = notice[0].replaceAll(/[^ -~]/g, '?').slice(0, MAX_SUBJECT);
  await sns.send(new PublishCommand({ TopicArn, Subject, Message: notice.join('\n') }));
}

async function post(notice: Notice, { prefix, secrets, dispatcher, isLocal }: NotifierOptions) {
  const SecretId = notifySecretName(prefix);
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  const secret = parseJson(SecretString);
  const text = String(secret.ok && (secret.value as { readonly url?: unknown } | null)?.url);
  const url = parsedUrl(text) ?? new URL('none:');
  const isSecure = url.protocol === 'https:' || (isLocal && /^http:\/\/127\.0\.0\.1[:/]/.test(url.href));
  if (!isSecure) throw new NotSent(`the secret ${SecretId} holds no {"url": "https://…"}`);
  const { statusCode, body } = await dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bodyFor(url.hostname, notice)),
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  });
  await body.dump();
  if (statusCode >= 300) throw new NotSent(`the webhook answered ${statusCode}`);
}

/** Returns the request body. Teams needs a card. Slack interprets special characters, so they are escaped. */
function bodyFor(host: string, notice: Notice): object {
  const text = notice.join('\n');
  if (/(?:^|\.)slack(?:-gov)?\.com$/.test(host))
    return { text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') };
  if (!/\.(?:office|azure|powerplatform|powerautomate)\.(?:com|us)$/.test(host)) return { text };
  const body = notice.map((line) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: line }] }));
  const content = { type: 'AdaptiveCard', version: '1.3', body };
  const card = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return { type: 'message', attachments: [card] };
}
