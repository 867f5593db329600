import type { Command } from 'commander';
import { instant } from '../../shared/operate/status.ts';
import { issueToken, tokenRow, withdrawToken } from '../../shared/scim/operate/tokens.ts';
import { listTokens } from '../../shared/scim/tokens/tokens.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { examples } from './arguments.ts';
import { addScimClients } from './scim-clients.ts';
import { DEFAULT_LIFETIME_MS, endOf, lifetime, noteUrl, tokenColumns, urlOf } from './scim-shared.ts';

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
    .action(act(create));
  token
    .command('list')
    .description('list tokens: prefix, age, expiry and last use')
    .addHelpText(...examples('scim token list', 'scim token list --json'))
    .action(act(list));
  token
    .command('revoke')
    .description('revoke a token immediately')
    .argument('<prefix>', 'prefix of the token, as in list')
    .addHelpText(...examples('scim token revoke 3f9a01bc', 'scim token revoke 3f9a01bc --yes'))
    .action(act(revoke));
}

async function create(
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

async function list({ out, connection, connected }: Context): Promise<number> {
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

async function revoke(context: Context, prefix: string): Promise<number> {
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
