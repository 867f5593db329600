import type { Command } from 'commander';
import type { AdoptionPlan, Inspection, MatchPreview } from '../../shared/contract/answers/connect.ts';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { DirectoryOptions } from '../../shared/directory/operate/guides/guide.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { storeConnection } from '../../shared/operate/connect/connect.ts';
import {
  type InspectedInput,
  inspectCredential,
  proposedSettings,
} from '../../shared/operate/connect/inspect.ts';
import { refreshPeopleNow } from '../../shared/operate/people-now.ts';
import { refuseLoopback } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { type Act, type Context, parseConnectionName } from '../context.ts';
import { prompt, readHidden } from '../hidden-text.ts';
import { EXIT, Stopped, UsageError } from '../io.ts';
import { clashLines } from '../output/clashes.ts';
import { plural } from '../output/words.ts';
import { examples } from './arguments.ts';
import { connectDirectory, directoryOptions } from './directory-source.ts';

interface ConnectOptions extends DirectoryOptions {
  readonly baseUrl?: string;
  readonly tokenStdin?: boolean;
  readonly observe?: boolean;
}

export function addConnect(program: Command, act: Act): void {
  const command = program
    .command('connect')
    .description('connect a company, or replace the credential of its connection; safe to repeat')
    .argument('[name]', 'default: --connection')
    .option('--base-url <url>', 'address of the platform')
    .option('--token-stdin', 'read the token from standard input (it is never an argument)')
    .option('--observe', 'plan only, write nothing until `groupsync resume`')
    .addHelpText(
      ...examples(
        'connect                                     prompts for all values',
        'connect default --base-url https://platform.example --token-stdin --yes < token-file',
        'connect acme --observe                      plan only',
        'connect acme --directory google --administrator admin@acme.example --key key.json',
        'connect acme --directory entra --tenant acme.example --client-id 11111111-2222-4333-8444-555555555555 --federated',
        'connect acme --directory okta --directory-url https://acme.okta.com --client-id 0oa1gjh63g214q0Hq0g4 --key key.json',
        'connect acme --directory google --administrator admin@acme.example --provider //iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/aws/providers/aws --service-account groupsync@acme.iam.gserviceaccount.com',
      ),
    )
    .action(act(connect));
  for (const option of directoryOptions()) command.addOption(option);
}

async function connect(context: Context, text: string | undefined, options: ConnectOptions): Promise<number> {
  const { out } = context;
  const name = text === undefined ? context.connection : parseConnectionName(text);
  if (options.directory !== undefined) return connectDirectory(context, name, options);
  const ports = await context.ports();
  const known = await ports.connections.find(name);
  const former = known?.settings ?? (await formerSettings(context, name));
  const given = await settingsFor(context, options, former);
  const token = await readToken(context, options);
  const applicant = await presentToken(ports, given, token);
  const input = { name, settings: given, applicant, isNew: former === undefined };
  const inspection = await inspectCredential(input, ports);
  printInspection(inspection, context);
  const { company } = inspection;
  const document = (stored: boolean) => ({ connection: name, stored, ...inspection });
  if (company === undefined || !inspection.usable) {
    out.answer(document(false), () =>
      out.line('nothing was stored: fix the problems marked FAIL, then run connect again'),
    );
    return EXIT.failed;
  }
  const settings = await settleMemberIdField(context, input, inspection);
  const isAsked = options.observe ?? known?.observing ?? false;
  const verb = known === undefined ? 'Store' : 'Replace';
  if (!(await context.confirm(`${verb} the connection ${name}?`))) return EXIT.failed;
  const wanted = { name, company, settings, token, observing: isAsked, known };
  const replanned = await storeConnection(wanted, ports);
  const { observing = isAsked } = (await ports.connections.current(name)) ?? {};
  await readPeople(context, ports, name);
  out.answer(document(true), () => {
    out.line(`connected ${name} to the company ${company}${observing ? ', observing only' : ''}`);
    if (replanned > 0) out.line(`${plural(replanned, 'group')} will be planned again within two minutes`);
  });
  const clashes = inspection.adoption?.clashes.length ?? 0;
  printNext(context, name, { observing, clashes });
  return inspection.checks.every(({ ok }) => ok) ? EXIT.done : EXIT.attention;
}

async function formerSettings({ ports, out }: Context, name: ConnectionName) {
  const former = await (await ports()).connections.formerSettings(name);
  if (former !== undefined) out.note('the connection begins with its settings from before its removal');
  return former;
}

function printNext(
  { connection, out }: Context,
  name: ConnectionName,
  { observing, clashes }: { readonly observing: boolean; readonly clashes: number },
): void {
  // Hints repeat the global options of the command line. If the argument names a connection that differs from
  // `--connection`, the hints name it, because they would otherwise suggest commands for the connection of
  // `--connection`.
  const own = name === connection ? '' : `--connection ${name} `;
  const nextVerbs = clashes > 0 ? ['platform-groups'] : [];
  if (observing) nextVerbs.push('plan', 'resume');
  nextVerbs.push('probe', 'doctor');
  for (const verb of nextVerbs) out.note(`next: groupsync ${own}${verb}`);
  out.note('if messages of this connection were dead-lettered before:');
  out.note('next: groupsync dlq replay --code unknown_connection');
}

async function settingsFor(
  context: Context,
  { baseUrl }: ConnectOptions,
  known: Partial<ConnectionSettings> | undefined,
): Promise<ConnectionSettings> {
  const url = baseUrl ?? known?.baseUrl ?? context.localFile?.platform ?? (await promptUrl(context));
  const settings = parseSettings({ ...known, baseUrl: url });
  refuseLoopback(settings, (await context.ports()).deployment);
  return settings;
}

async function promptUrl({ io }: Context): Promise<string> {
  if (io.stdin.isTTY !== true) throw new UsageError('--base-url is required without a terminal');
  const address = { message: 'Address of the platform', placeholder: 'https://platform.example' };
  return (await prompt(io, 'text', address)).trim();
}

/** Reads the token from standard input or a hidden prompt. Other users of the machine could see an argument. */
const readToken = ({ io }: Context, { tokenStdin }: ConnectOptions): Promise<string> =>
  readHidden(io, {
    title: 'Token of the OAuth application',
    option: '--token-stdin',
    isPiped: tokenStdin === true,
  });

async function presentToken(ports: ToolPorts, { baseUrl }: ConnectionSettings, token: string) {
  try {
    return await ports.applicants.present(baseUrl, token);
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

function printInspection({ checks, preview, adoption }: Inspection, { out }: Context): void {
  const { paint } = out;
  for (const { ok, name, detail, fix } of checks) {
    out.note(`${ok ? paint.green('ok  ') : paint.red('FAIL')} ${name}: ${detail}`);
    if (fix !== null) out.note(`     ${fix}`);
  }
  for (const line of preview === null ? [] : matchLines(preview)) out.note(line);
  if (adoption === null) return;
  for (const line of adoptionLines(adoption)) out.note(line);
  for (const line of clashLines(adoption.clashes)) out.note(paint.bold(line));
}

function matchLines(preview: MatchPreview): readonly string[] {
  const { members, matched, unmatched, ambiguous, byRule, newlyMatched = 0 } = preview;
  if (members === 0) return [];
  const lines = [
    `match of ${plural(members, 'known member')}: ${matched} matched, ${unmatched} unmatched, ${ambiguous} ambiguous`,
    ...byRule.map((one) => `     ${one.rule}: ${one.matched}`),
  ];
  if (newlyMatched > 0)
    lines.push(`     ${plural(newlyMatched, 'member')} would get their first match, and join their groups`);
  return lines;
}

const SHOWN_PAIRS = 10;

function adoptionLines({ existing, directory, bySpokeId }: AdoptionPlan): string[] {
  const lines = [`groups: ${existing} on the platform, ${directory} from the directory so far`];
  if (bySpokeId.length === 0) return lines;
  lines.push(`     ${bySpokeId.length} would be linked by their external id:`);
  for (const { group, name, platformId } of bySpokeId.slice(0, SHOWN_PAIRS)) {
    lines.push(`       ${platformId} "${name}" for ${group}`);
  }
  if (bySpokeId.length > SHOWN_PAIRS) lines.push(`       … and ${bySpokeId.length - SHOWN_PAIRS} more`);
  return lines;
}

/**
 * Reads the employees now, because no member can be matched without them. Their next scheduled read may be an hour
 * away.
 */
async function readPeople({ out }: Context, ports: ToolPorts, connection: ConnectionName): Promise<void> {
  out.note('reading employees …');
  await refreshPeopleNow(connection, ports).catch(({ message }: Error) => {
    out.note(`employees could not be read: ${message}; to retry: groupsync people refresh`);
  });
}

type MemberIdField = ConnectionSettings['memberIdField'];

const FIELDS: readonly { readonly value: MemberIdField; readonly label: string; readonly hint: string }[] = [
  { value: 'userId', label: 'userId', hint: 'the user id of an employee, as in the specification' },
  { value: 'id', label: 'id', hint: 'the employee id, as in newer descriptions of the platform' },
];

/**
 * Returns the settings with `memberIdField` set to the kind of id that the platform's groups contain. For a new
 * connection, the members of existing groups show the kind. If no group has a known member, the command asks the
 * operator. Without a terminal or with `--yes`, the setting does not change.
 */
async function settleMemberIdField(
  context: Context,
  input: InspectedInput,
  { memberIds }: Pick<Inspection, 'memberIds'>,
): Promise<ConnectionSettings> {
  const settings = proposedSettings(input, memberIds);
  if (!input.isNew || memberIds === null || memberIds.field !== null) return settings;
  const { io, out, yes } = context;
  if (!yes && io.stdin.isTTY === true) return { ...settings, memberIdField: await ask(context, settings) };
  out.note(
    `memberIdField stays ${settings.memberIdField}: no group on the platform shows the kind of id that groups contain`,
  );
  out.note(`if groups contain employee ids: groupsync connections set ${input.name} memberIdField=id`);
  return settings;
}

async function ask({ io }: Context, { memberIdField }: ConnectionSettings): Promise<MemberIdField> {
  const clack = await import('@clack/prompts');
  const answer = await clack.select({
    message: 'Which id of an employee do groups on the platform contain?',
    options: [...FIELDS],
    initialValue: memberIdField,
    input: io.stdin,
    output: io.stderr,
  });
  if (clack.isCancel(answer)) throw new Stopped();
  return answer;
}
