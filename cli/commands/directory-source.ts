import { Option } from 'commander';
import * as z from 'zod';
import { DirectoryPreview, DirectoryStepRow } from '../../shared/contract/answers/directory.ts';
import { nullable } from '../../shared/contract/answers/forms.ts';
import { applySetting } from '../../shared/contract/change-setting.ts';
import {
  DIRECTORY_KINDS,
  type DirectoryKind,
  isSameDirectory,
} from '../../shared/contract/directory-settings.ts';
import { ENTRA_CLOUDS } from '../../shared/contract/entra-clouds.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { namedAttributes } from '../../shared/contract/settings.ts';
import type { DirectoryOptions, SecretSource } from '../../shared/directory/operate/guides/guide.ts';
import {
  connectOptionsOf,
  describeDirectory,
  fixOfStep,
  guidePageOf,
} from '../../shared/directory/operate/guides/index.ts';
import { comparePlatform, previewDirectory, rowOfStep } from '../../shared/directory/operate/preview.ts';
import { refuseOwnerless } from '../../shared/directory/operate/reader-groups.ts';
import { directoryThroughFunction } from '../../shared/directory/operate/through-function.ts';
import { DirectoryError } from '../../shared/directory/ports.ts';
import { type ConnectionName, groupId } from '../../shared/domain/ids.ts';
import { observeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import type { Context } from '../context.ts';
import { readHidden } from '../hidden-text.ts';
import { EXIT, HintedError, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { utf8Chunks } from '../text-file.ts';
export const directoryOptions = (): readonly Option[] => [
  new Option('--directory <kind>', 'kind of a directory that the connection does not read yet').choices(
    DIRECTORY_KINDS,
  ),
  new Option('--administrator <address>', 'Google: the administrator whose permissions are used to read'),
  new Option(
    '--key <file>',
    "Google: key file of the directory's service account; Okta: file with the private key as JWK",
  ),
  new Option('--provider <name>', 'Google: workload identity provider, to sign in without a stored key'),
  new Option('--service-account <address>', 'Google: the service account to read as, with --provider'),
  new Option('--tenant <id>', 'Entra ID: the tenant'),
  new Option('--cloud <name>', 'Entra ID: the cloud of the tenant (default: public)').choices(ENTRA_CLOUDS),
  new Option('--client-id <id>', 'Entra ID, Okta: the application that reads the directory'),
  new Option(
    '--secret-stdin',
    'read the client secret (Entra ID) or the API token (Okta) from standard input',
  ),
  new Option('--key-arn <arn>', 'Okta: KMS key that signs in as the application; no private key is stored'),
  new Option('--federated', 'Entra ID: sign in with a federated credential, without a stored secret'),
  new Option(
    '--audience <name>',
    'Entra ID: audience of the federated credential (default: the one that Microsoft recommends for the cloud)',
  ),
  new Option(
    '--directory-url <url>',
    'Okta: address of the organisation; Google, Entra ID: a server with the same API, such as a simulator',
  ),
];

type NamedDirectory = Awaited<ReturnType<typeof namedDirectory>>;

/**
 * Returns the directory that the options describe. If the connection already reads this directory, the setting
 * `corrects`, which has no option, keeps its stored value. @throws UsageError
 */
async function namedDirectory(context: Context, name: ConnectionName, options: DirectoryOptions) {
  const { ports, found } = await context.connected(name);
  const stored = found.settings.directory;
  const kind = options.directory ?? 'google';
  const described = describeDirectory(kind, options, stored);
  if ('expected' in described) throw new UsageError(`--directory: expected ${described.expected}`);
  const changed = applySetting(found.settings, 'directory', described.setting).directory;
  if (changed === null) throw new UsageError('--directory: expected a kind of directory, got nothing');
  const isConnected = stored !== null && isSameDirectory(stored, changed);
  const corrects = isConnected ? stored.corrects : undefined;
  const setting = { ...changed, ...(corrects !== undefined && { corrects }) };
  const plan = await planSettings(name, [{ key: 'directory', value: setting }], ports);
  const key = described.secret && (await readSecret(context, described.secret));
  const connection: Connection = { ...plan.connection, settings: plan.next };
  const present = () => ports.directoryApplicants.present(setting, key, namedAttributes(plan.next));
  return {
    plan,
    setting,
    /** The secret in its stored form. Undefined if the deployed function signs in with its role and needs no secret. */
    key,
    connection,
    isConnected,
    present,
  };
}

/**
 * Returns the directory that the options describe. Without `--directory`, returns the directory that the connection
 * reads. The deployed function reads the directory, except if the options name a secret.
 */
export async function chosenDirectory(context: Context, options: DirectoryOptions) {
  const { ports, found } = await context.connected();
  if (options.directory !== undefined) {
    const { connection, setting, key, present, isConnected } = await namedDirectory(
      context,
      found.name,
      options,
    );
    const { kind } = setting;
    const directory =
      key === undefined
        ? directoryThroughFunction({ ...ports, connection, setting })
        : await withHint(present(), kind);
    // Whether the connection reads a different directory now.
    const replaces = found.settings.directory !== null && !isConnected;
    return { connection, kind, directory, replaces, ports };
  }
  const { directory: setting } = found.settings;
  if (setting === null) {
    throw new UsageError(`${found.name} reads no directory: expected --directory KIND and its options`);
  }
  const directory = directoryThroughFunction({ ...ports, connection: found });
  return { connection: found, kind: setting.kind, directory, replaces: false, ports };
}

export const withHint = <Answer>(asked: Promise<Answer>, kind: DirectoryKind): Promise<Answer> =>
  asked.catch((error: Error) => {
    const isExpected = error instanceof DirectoryError || error instanceof FunctionFailed;
    if (!isExpected) throw error;
    throw new HintedError(`nothing was changed: ${error.message}; ${guidePageOf(kind)}`, 'groupsync doctor');
  });

async function readSecret(context: Context, source: SecretSource): Promise<unknown> {
  if (source.kind === 'file') return readKey(context, source.file);
  const { field, title, isPiped } = source;
  return { [field]: await readHidden(context.io, { title, option: '--secret-stdin', isPiped }) };
}

async function readKey({ io }: Context, file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of utf8Chunks(io, file)) text += chunk;
  const json = parseJson(text);
  if (!json.ok) throw new UsageError(`--key ${file}: ${json.message}`);
  return json.value;
}

/**
 * Previews a directory. After confirmation, stores its key, if it has one, and the setting `directory`. If the
 * connection has groups of other sources, a directory that it does not read yet is refused.
 */
export async function connectDirectory(
  context: Context,
  name: ConnectionName,
  options: DirectoryOptions & { readonly observe?: boolean },
): Promise<number> {
  const { out } = context;
  const { ports, found } = await context.connected(name);
  const named = await namedDirectory(context, name, options);
  const { plan, setting, key, connection, isConnected } = named;
  const preview =
    key === undefined ? await previewByFunction(named, ports) : await previewByKey(named, ports);
  const { others, adoptable } = preview;
  const mayAdopt = adoptable === null ? !isConnected : adoptable > 0;
  const observes = options.observe === true || mayAdopt;
  const document = (stored: boolean) => {
    const observing = connection.observing || (stored && observes);
    return { connection: name, stored, kind: setting.kind, observing, ...preview };
  };
  for (const line of previewLines(preview)) out.note(line);
  if (others.length > 0 && !isConnected) {
    out.answer(document(false), () => out.line(othersLine(others)));
    out.note(`next: groupsync directory takeover --directory ${connectOptionsOf(setting)}`);
    return EXIT.failed;
  }
  await refuseOwnerless(found, plan.next, ports);
  if (!(await context.confirm(`Read this directory for the connection ${name}?`))) return EXIT.failed;
  if (key !== undefined) await ports.directoryApplicants.store(name, key);
  if (observes) await observeConnection(connection, 'connect', ports);
  await changeSettings(plan, ports);
  // The reader uses the stored secret until the setting changes, so the secret is removed last.
  if (key === undefined) await ports.directoryApplicants.remove(name);
  out.answer(document(true), () => {
    out.line(`${name} reads ${plural(preview.selected, 'group')} of the directory`);
    if (observes) out.line('the connection observes: nothing is written until groupsync resume');
  });
  out.note(observes ? 'next: groupsync directory groups --compare' : 'next: groupsync directory read');
  return EXIT.done;
}

const previewByKey = ({ connection, setting, present }: NamedDirectory, ports: ToolPorts) =>
  present()
    .then((directory) => previewDirectory(connection, directory, ports))
    .catch((error: Error) => {
      if (!(error instanceof DirectoryError)) throw error;
      const isSignIn = error.message.startsWith('token:');
      const row = rowOfStep({ step: 'token exchange', failure: error });
      const fix = isSignIn ? fixOfStep(row, setting, connection.name) : guidePageOf(setting.kind);
      throw new HintedError(`nothing was stored: ${error.message}; ${fix}`, 'groupsync directory status');
    });

const Trial = z.object({
  preview: DirectoryPreview.omit({ adoptable: true }),
  selected: z.array(z.object({ id: z.string().transform(groupId), name: z.string() })),
});

const TrialAnswer = z.object({
  reports: z.tuple([z.object({ steps: z.array(DirectoryStepRow), trial: nullable(Trial) })]),
});

/**
 * Without a key, only the role of the deployed function can sign in, so the function reads the directory. The function
 * cannot call the platform, so this command compares the directory with the platform's groups.
 */
async function previewByFunction({ connection, setting }: NamedDirectory, ports: ToolPorts) {
  const { name } = connection;
  const answer = await ports.functions
    .run('directory', { connection: name, preview: setting })
    .catch((cause: Error) => {
      throw new HintedError(
        `nothing was stored: ${cause.message}; ${guidePageOf(setting.kind)}`,
        'groupsync doctor',
      );
    });
  const [{ steps, trial }] = TrialAnswer.parse(answer).reports;
  if (trial !== null) return comparePlatform(connection, trial, ports);
  const failed = steps.find(({ problem }) => problem !== null);
  const fix = failed === undefined ? '' : `\n${fixOfStep(failed, setting, name)}`;
  throw new HintedError(
    `nothing was stored: ${failed?.problem ?? 'no step was tried'}${fix}`,
    'groupsync doctor',
  );
}

function previewLines({ listed, selected, sample, adoptable }: DirectoryPreview): readonly string[] {
  const lines = [`${plural(listed, 'group')} in the directory, ${selected} selected`];
  for (const { group, name, members, matched, problem } of sample) {
    const result = problem ?? `${plural(members, 'member')}, ${matched} with an employee`;
    lines.push(`     ${name} (${group}): ${result}`);
  }
  if (selected > sample.length) lines.push(`     and ${selected - sample.length} more`);
  if (adoptable === null) lines.push('the platform could not be read: its groups are not compared');
  else if (adoptable > 0) lines.push(`${plural(adoptable, 'existing platform group')} would be adopted`);
  return lines;
}

const MAX_NAMED = 5;

const othersLine = (others: readonly string[]): string =>
  `nothing was stored: ${plural(others.length, 'group')} of this connection came from another source: ${others.slice(0, MAX_NAMED).join(', ')}. Only one source may manage a group`;
