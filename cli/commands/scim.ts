import { type Command, InvalidArgumentError } from 'commander';
import { DAY_MS } from '../../shared/domain/duration.ts';
import { instant } from '../../shared/operate/status.ts';
import {
  issueToken,
  renewClient,
  tokenRow,
  withdrawClient,
  withdrawToken,
} from '../../shared/scim/operate/tokens.ts';
import type { ScimToken } from '../../shared/scim/ports.ts';
import { listClients } from '../../shared/scim/tokens/clients.ts';
import { TOKEN_PATH } from '../../shared/scim/tokens/token-endpoint.ts';
import { type createToken, listTokens, type TokenSummary } from '../../shared/scim/tokens/tokens.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import type { Column } from '../output/table.ts';
import { duration } from '../output/words.ts';
import { age, examples } from './arguments.ts';

const DEFAULT_LIFETIME_MS = 180 * DAY_MS;
const EXPIRES = [
  '--expires <duration>',
  'validity of the secret, such as 90d, or never (default: 180d)',
] as const;

export function addScim(program: Command, act: Act): void {
  const scim = program
    .command('scim')
    .description('SCIM server for Okta, Entra ID and others')
    .addHelpText(...examples('scim token create --expires 180d', 'scim token list', 'scim client create'));
  addScimClients(scim, act);
  const token = scim
    .command('token')
    .description('bearer tokens of a connection; several may be valid, for rotation')
    .addHelpText(...examples('scim token list', 'scim token create'));
  token
    .command('create')
    .description('create a token; it is shown only once')
    .option('--expires <duration>', 'validity, such as 90d or 12h, or never (default: 180d)', lifetime)
    .addHelpText(...examples('scim token create --expires 90d', 'scim token create --json'))
    .action(act(makeToken));
  token
    .command('list')
    .description('list tokens: prefix, age, expiry and last use')
    .addHelpText(...examples('scim token list', 'scim token list --json'))
    .action(act(showTokens));
  token
    .command('revoke')
    .description('revoke a token immediately')
    .argument('<prefix>', 'prefix of the token, as in list')
    .addHelpText(...examples('scim token revoke 3f9a01bc', 'scim token revoke 3f9a01bc --yes'))
    .action(act(revokeToken));
}

async function makeToken(
  { out, connection, connected }: Context,
  { expires = DEFAULT_LIFETIME_MS }: { readonly expires?: number },
): Promise<number> {
  const { ports: tool } = await connected();
  const expiresMs = endOf(expires, tool.clock());
  const { token, kept } = await issueToken(connection, expiresMs, tool);
  const url = await urlOf(tool);
  const { prefix } = kept;
  const document = { token, prefix, connection, expiresAt: instant(expiresMs), url: url ?? null };
  noteUrl({ out, connection }, url, kept);
  out.note('copy the token now: it is not shown again');
  out.answer(document, () => out.line(token));
  return EXIT.done;
}

async function showTokens({ out, connection, connected }: Context): Promise<number> {
  const { ports: tool } = await connected();
  const tokens = (await listTokens(connection, tool)).filter(({ client }) => client === undefined);
  out.answer({ tokens: tokens.map(tokenRow) }, () =>
    out.table(tokens, [
      { title: 'prefix', of: ({ prefix }) => prefix, whole: true },
      ...tokenColumns(tool.clock()),
    ]),
  );
  return EXIT.done;
}

async function revokeToken(context: Context, prefix: string): Promise<number> {
  const { out, connection } = context;
  if (!(await context.confirm(`Revoke the token ${prefix}? Requests with this token will be refused.`))) {
    return EXIT.failed;
  }
  const revoked = await withdrawToken(connection, prefix, await context.ports());
  out.answer({ prefix, revoked }, () =>
    out.line(revoked ? `revoked ${prefix}` : `connection ${connection} has no token ${prefix}`),
  );
  return revoked ? EXIT.done : EXIT.failed;
}

function addScimClients(scim: Command, act: Act): void {
  const client = scim
    .command('client')
    .description('OAuth 2.0 clients of a connection, for providers that use the client credentials grant')
    .addHelpText(...examples('scim client create', 'scim client list'));
  client
    .command('create')
    .description('create a client; its secret is shown only once')
    .option(...EXPIRES, lifetime)
    .addHelpText(...examples('scim client create --expires 90d', 'scim client create --json'))
    .action(act(makeClient));
  client
    .command('list')
    .description('list secrets of each client: prefix, age, expiry and last use')
    .addHelpText(...examples('scim client list', 'scim client list --json'))
    .action(act(showClients));
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
    .action(act(rotateClient));
  client
    .command('revoke')
    .description('revoke a client, its secrets and access tokens immediately')
    .argument('<client>', 'id of the client, as in list')
    .addHelpText(...examples('scim client revoke 3f9a01bc', 'scim client revoke 3f9a01bc --yes'))
    .action(act(revokeClient));
}

const previous = (text: string): number => (text === 'none' ? 0 : age(text));

async function makeClient(
  context: Context,
  { expires = DEFAULT_LIFETIME_MS }: { readonly expires?: number },
) {
  const { ports: tool } = await context.connected();
  const made = await issueToken(context.connection, endOf(expires, tool.clock()), tool, 'client');
  return showSecret(made, undefined, context);
}

async function rotateClient(
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

async function showClients({ out, connection, connected }: Context): Promise<number> {
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

async function revokeClient(context: Context, id: string): Promise<number> {
  const { out, connection } = context;
  const question = `Revoke the client ${id}? Its secrets and access tokens will be refused.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const revoked = await withdrawClient(connection, id, await context.ports());
  out.answer({ clientId: id, revoked }, () =>
    out.line(revoked ? `revoked client ${id}` : `connection ${connection} has no client ${id}`),
  );
  return revoked ? EXIT.done : EXIT.failed;
}

function lifetime(text: string): number {
  const ms = text === 'never' ? Number.POSITIVE_INFINITY : age(text);
  if (text === 'never' || ms <= 10 * 366 * DAY_MS) return ms;
  throw new InvalidArgumentError('expected at most ten years, or never');
}

const endOf = (lifetimeMs: number, nowMs: number) =>
  Number.isFinite(lifetimeMs) ? nowMs + lifetimeMs : undefined;

/** Returns the base URL; null if the stage has no SCIM server, undefined if its address cannot be read. */
const urlOf = async ({ deployment }: ToolPorts): Promise<string | null | undefined> =>
  deployment.scim().then(
    (facts) => (facts === undefined ? null : facts.url),
    () => undefined,
  );

function noteUrl(
  { out, connection }: Pick<Context, 'out' | 'connection'>,
  url: string | null | undefined,
  { isRequested }: ScimToken,
): void {
  if (isRequested)
    out.note(
      `four eyes is on: it works after another person has run groupsync connections confirm ${connection}`,
    );
  if (url === null) {
    out.note('this stage has no SCIM server: set `scim` in the settings and deploy (docs/scim.md)');
    return;
  }
  out.note(`base URL to paste: ${url ?? 'the output ScimUrl of the stack'}`);
}

function tokenColumns(nowMs: number): readonly Column<TokenSummary>[] {
  const ago = (atMs: number | undefined) => (atMs === undefined ? 'never' : `${duration(nowMs - atMs)} ago`);
  return [
    { title: 'state', of: ({ state }) => state },
    {
      title: 'created',
      of: ({ createdMs }) => ago(createdMs),
      csv: { title: 'created', of: ({ createdMs }) => instant(createdMs) },
    },
    {
      title: 'expires',
      of: ({ expiresMs }) => instant(expiresMs)?.slice(0, 10) ?? 'never',
      csv: { title: 'expires', of: ({ expiresMs }) => instant(expiresMs) ?? '' },
    },
    {
      title: 'last used',
      of: ({ lastUsedMs }) => ago(lastUsedMs),
      csv: { title: 'last used', of: ({ lastUsedMs }) => instant(lastUsedMs) ?? '' },
    },
  ];
}
