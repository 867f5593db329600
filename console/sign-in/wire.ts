import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { ConsoleSignIn } from '../../shared/contract/console.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { consoleSecretName, ENVIRONMENT } from '../../shared/contract/names.ts';
import { randomHex, systemClock } from '../../shared/runtime/clock.ts';
import { ConfigError, required } from '../../shared/runtime/config.ts';
import { type Base, wireBase } from '../../shared/runtime/wire.ts';
import { type Tool, wireTool } from '../../shared/runtime/wire-tool.ts';
import type { ConsoleSessions } from '../../shared/sync/ports/bundles.ts';

const ClientSecret = z.object({ clientSecret: z.string().min(1) });

interface ConsoleWiring extends Base {
  readonly tool: Tool;
  readonly settings: ConsoleSignIn;
  readonly origin: string;
  readonly sessions: ConsoleSessions;
  /** Returns undefined if the settings do not name a secret. */
  readonly clientSecret: () => Promise<string | undefined>;
  readonly clock: () => number;
  readonly randomHex: (bytes: number) => string;
}

/** The time limit of a long answer. With this limit, the page gets the answer before API Gateway's own time-out. */
export const ANSWER_MS = 20_000;

/** Returns the ports of the deployed console. The console's role may not read the credentials of connections. */
export async function wireConsole(): Promise<ConsoleWiring> {
  const base = wireBase();
  const { prefix, region, emulator, createSettleMs, queueUrls } = base.config;
  const { console, consoleUrl, scimUrl } = base.config;
  const settings = ConsoleSignIn.parse(JSON.parse(required(console, ENVIRONMENT.console)));
  const known = Object.fromEntries(Object.entries(queueUrls).filter(([, url]) => url !== undefined));
  const scim = scimUrl === undefined ? null : { state: undefined, url: scimUrl };
  const own = { user: 'console', isConsole: true, answerMs: ANSWER_MS, scim };
  const target = { prefix, region, queueUrls: known, createSettleMs, emulator, ...own };
  const tool = await wireTool(target);
  const secrets = new SecretsManagerClient({});
  return {
    ...base,
    tool,
    settings,
    origin: new URL(required(consoleUrl, ENVIRONMENT.consoleUrl)).origin,
    sessions: tool.ports.sessions,
    async clientSecret() {
      if (!settings.hasSecret) return undefined;
      const SecretId = consoleSecretName(prefix);
      const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
      const parsed = parseJson(SecretString);
      const secret = parsed.ok ? ClientSecret.safeParse(parsed.value) : undefined;
      if (secret?.success !== true)
        throw new ConfigError(`the secret ${SecretId} has no {"clientSecret": "…"}`);
      return secret.data.clientSecret;
    },
    clock: systemClock,
    randomHex,
  };
}
