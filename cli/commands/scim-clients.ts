import type { Command } from 'commander';
import { DAY_MS } from '../../shared/domain/duration.ts';
import { instant } from '../../shared/operate/status.ts';
import { issueClient, renewClient, tokenRow, withdrawClient } from '../../shared/scim/operate/tokens.ts';
import { listClients } from '../../shared/scim/tokens/clients.ts';
import { TOKEN_PATH } from '../../shared/scim/tokens/token-endpoint.ts';
import type { createToken } from '../../shared/scim/tokens/tokens.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { age, examples } from './arguments.ts';
import { DEFAULT_LIFETIME_MS, endOf, lifetime, noteUrl, tokenColumns, urlOf } from './scim-shared.ts';

const EXPIRES = [
  '--expires <duration>',
  'validity of the secret, such as 90d, or never (default: 180d)',
] as const;

export function addScimClients(scim: Command, act: Act): void {
  const client = scim
    .command('client')
    .description('OAuth 2.0 clients of a connection, for providers that use the client credentials grant')
    .addHelpText(...examples('scim client create', 'scim client list'));
  client
    .command('create')
    .description('create a client; its secret is shown only once')
    .option(...EXPIRES, lifetime)
    .addHelpText(...examples('scim client create --expires 90d', 'scim client create --json'))
    .action(act(create));
  client
    .command('list')
    .description('list secrets of each client: prefix, age, expiry and last use')
    .addHelpText(...examples('scim client list', 'scim client list --json'))
    .action(act(list));
  client
    .command('rotate')
    .description('create another secret of a client; earlier secrets expire later, or immediately')
    .argument('<client>', 'id of the client, as in list')
    .option(...EXPIRES, lifetime)
    .option(
      '--previous <duration>',
      'how long earlier secrets stay valid, such as 2h, or none (default: 1d)',
      previous,
    )
    .addHelpText(...examples('scim client rotate 3f9a01bc', 'scim client rotate 3f9a01bc --previous none'))
    .action(act(rotate));
  client
    .command('revoke')
    .description('revoke a client, its secrets and access tokens immediately')
    .argument('<client>', 'id of the client, as in list')
    .addHelpText(...examples('scim client revoke 3f9a01bc', 'scim client revoke 3f9a01bc --yes'))
    .action(act(revoke));
}

const previous = (text: string): number => (text === 'none' ? 0 : age(text));

async function create(context: Context, { expires = DEFAULT_LIFETIME_MS }: { readonly expires?: number }) {
  const { ports: tool } = await context.connected();
  const made = await issueClient(context.connection, endOf(expires, tool.clock()), tool);
  return showSecret(made, undefined, context);
}

async function rotate(
  context: Context,
  id: string,
  { expires = DEFAULT_LIFETIME_MS, previous: previousMs = DAY_MS }: { expires?: number; previous?: number },
): Promise<number> {
  const question = `Rotate the secret of client ${id}? Earlier secrets will be refused.`;
  if (previousMs === 0 && !(await context.confirm(question))) return EXIT.failed;
  const { ports: tool } = await context.connected();
  const nowMs = tool.clock();
  const rotation = { expiresMs: endOf(expires, nowMs), previousForMs: previousMs };
  const made = await renewClient(context.connection, id, rotation, tool);
  return showSecret(made, made.kept.isRequested ? undefined : nowMs + previousMs, context);
}

async function showSecret(
  { token, kept }: Awaited<ReturnType<typeof createToken>>,
  previousEndMs: number | undefined,
  { out, connection, ports }: Context,
): Promise<number> {
  const url = await urlOf(await ports());
  const tokenUrl = url == null ? null : `${url}${TOKEN_PATH}`;
  const clientId = kept.client ?? '';
  const document = {
    clientId,
    clientSecret: token,
    prefix: kept.prefix,
    connection,
    expiresAt: instant(kept.expiresMs),
    previousEndAt: instant(previousEndMs),
    tokenUrl,
    url: url ?? null,
  };
  noteUrl({ out, connection }, url, kept);
  if (url !== null) out.note(`token URL to paste: ${tokenUrl ?? `the base URL, then ${TOKEN_PATH}`}`);
  out.note(`client id: ${clientId}`);
  out.note('copy the secret now: it is not shown again');
  out.answer(document, () => out.line(token));
  return EXIT.done;
}

async function list({ out, connection, connected }: Context): Promise<number> {
  const { ports: tool } = await connected();
  const clients = await listClients(connection, tool);
  const rows = clients.flatMap(({ id, secrets }) => secrets.map((secret) => ({ id, ...secret })));
  const document = {
    clients: clients.map(({ id, secrets }) => ({ clientId: id, secrets: secrets.map(tokenRow) })),
  };
  out.answer(document, () =>
    out.table(rows, [
      { title: 'client', of: ({ id }) => id, whole: true },
      { title: 'secret', of: ({ prefix }) => prefix, whole: true },
      ...tokenColumns(tool.clock()),
    ]),
  );
  return EXIT.done;
}

async function revoke(context: Context, id: string): Promise<number> {
  const { out, connection } = context;
  const question = `Revoke the client ${id}? Its secrets and access tokens will be refused.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const revoked = await withdrawClient(connection, id, await context.ports());
  out.answer({ clientId: id, revoked }, () =>
    out.line(revoked ? `revoked client ${id}` : `connection ${connection} has no client ${id}`),
  );
  return revoked ? EXIT.done : EXIT.failed;
}
