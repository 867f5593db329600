import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { pageBuild, pageFiles } from '../../console/page-build.ts';
import type { ConsoleSignInProps } from '../../shared/contract/console.ts';
import { consoleSecretName, ENVIRONMENT } from '../../shared/contract/names.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { storeSecret } from '../connection.ts';
import { UsageError } from '../usage.ts';
import { createGateway } from './gateway.ts';
import { listenOnLoopback } from './listen.ts';
import { type Account, CLIENT_ID, startLoginProvider } from './provider.ts';

const SOURCES = fileURLToPath(new URL('../../console/page/', import.meta.url));
const ROLES = ['viewer', 'approver', 'operator', 'administrator'] as const;

/** One account for each role. The name of the account is the name of the role. */
export const roleAccounts = (): Map<string, Account> =>
  new Map(ROLES.map((role) => [role, { groups: [`groupsync-${role}`] }]));

export interface ConsoleLogin {
  readonly url: string;
  readonly issuer: string;
  readonly stop: () => void;
}

/** Starts the function `console` and an OIDC provider on this machine. The stack must be running. */
export async function startConsoleLogin(
  prefix: string,
  { accounts = roleAccounts(), sessionMinutes = 60 } = {},
): Promise<ConsoleLogin> {
  Object.assign(globalThis, { CONSOLE_PAGE: await loadPage() });
  const server = createGateway(async () => (await import('../../functions/console.ts')).handler);
  const origin = await listenOnLoopback(server, 0);
  const clientSecret = randomHex(32);
  const provider = await startLoginProvider({
    redirectUri: `${origin}/auth/callback`,
    clientSecret,
    accounts,
  });
  const signIn: ConsoleSignInProps = {
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    hasSecret: true,
    scopes: ['openid', 'email', 'profile', 'groups'],
    roles: ROLES.map((role) => ({ claim: 'groups', value: `groupsync-${role}`, role })),
    sessionMinutes,
  };
  await storeSecret(new SecretsManagerClient({}), consoleSecretName(prefix), { clientSecret });
  Object.assign(process.env, {
    [ENVIRONMENT.console]: JSON.stringify(signIn),
    [ENVIRONMENT.consoleUrl]: origin,
  });
  const stop = () => {
    server.close().closeAllConnections();
    provider.stop();
  };
  return { url: `${origin}/c/default`, issuer: provider.issuer, stop };
}

async function loadPage() {
  const { build } = await import('esbuild').catch(() => {
    throw new UsageError('--console-login needs a checkout, because the package has no OIDC provider');
  });
  const { outputFiles } = await build(pageBuild(SOURCES));
  return pageFiles(outputFiles[0]?.text ?? '', (name) => readFileSync(`${SOURCES}${name}`, 'utf8'));
}
