import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidSettingError } from '../../shared/contract/change-setting.ts';
import { settingDifference } from '../../shared/contract/setting-difference.ts';
import { NotFound } from '../../shared/operate/names.ts';
import { type FilePlan, planFile } from '../../shared/operate/settings-file.ts';
import { type Act, type Context, parseConnectionName } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural, shellWord } from '../output/words.ts';
import { filesOf, isWritten, readSettingFile, settingFiles, writeFiles } from '../setting-files.ts';
import { examples } from './arguments.ts';
import { previewChange, saveSettings } from './change-settings.ts';

export function addSettingFiles(connections: Command, act: Act): void {
  connections
    .command('apply')
    .description('change connections to the settings in files, such as acme.json for the connection acme')
    .requiredOption('-f, --file <path>', 'a file, or a folder with files')
    .option('--check', 'only compare: exit code 3 if a connection differs from its file')
    .addHelpText(...examples('connections apply -f settings --check', 'connections apply -f settings --yes'))
    .action(act(apply));
  connections
    .command('export')
    .description('write the settings of all connections to files, with a JSON Schema for editors')
    .argument('<folder>')
    .addHelpText(...examples('connections export settings --yes', 'connections export settings --json --yes'))
    .action(act(exportFiles));
}

async function apply(
  context: Context,
  { file: path, check = false }: { readonly file: string; readonly check?: boolean },
): Promise<number> {
  const { out } = context;
  const plans = await planFiles(context, path);
  const changing = plans.filter(({ changes }) => changes.length > 0);
  for (const line of plans.flatMap(differenceLines)) out.note(line);
  for (const plan of changing.filter(({ replans }) => replans)) await previewChange(context, plan);
  const isApplied = !check && changing.length > 0;
  if (isApplied && !(await context.confirm(`Change ${plural(changing.length, 'connection')}?`)))
    return EXIT.failed;
  for (const plan of isApplied ? changing : []) {
    const { replanned, requested } = await saveSettings(context, plan);
    const later = `${plural(replanned, 'group')} will be planned again within two minutes`;
    const isOnlyRequested = requested.length === plan.changes.length;
    out.note(`${plan.connection.name}: ${isOnlyRequested ? 'requested' : `changed; ${later}`}`);
  }
  if (!report(context, plans, isApplied) || !check) return EXIT.done;
  out.note(`next: groupsync connections apply -f ${shellWord(path)}`);
  return EXIT.attention;
}

function report({ out }: Context, plans: readonly FilePlan[], applied: boolean): boolean {
  const connections = plans
    .filter(({ changes, waiting }) => changes.length + waiting.length > 0)
    .map(({ connection: { name }, changes, requested, waiting }) => ({ name, changes, requested, waiting }));
  const { length } = connections;
  const all = plural(plans.length, 'connection');
  const text = `${applied ? 'changed' : 'different from their files'}: ${length} of ${all}`;
  out.answer({ applied, compared: plans.length, connections }, () =>
    out.line(length === 0 ? `${all} as in the files` : text),
  );
  for (const { name, waiting, requested } of connections)
    if (waiting.length + requested.length > 0)
      out.note(`next, by another person: groupsync connections confirm ${name}`);
  return length > 0;
}

/** Plans all files, so that one bad file changes no connection. @throws UsageError with every problem */
async function planFiles(context: Context, path: string): Promise<readonly FilePlan[]> {
  const { cwd } = context.io;
  const ports = await context.ports();
  const plans: FilePlan[] = [];
  const problems: string[] = [];
  for (const { file, name } of settingFiles(cwd, path)) {
    try {
      plans.push(await planFile(parseConnectionName(name), readSettingFile(cwd, file), ports));
    } catch (error) {
      problems.push(...problemsOf(error).map((text) => `${file}: ${text}`));
    }
  }
  if (problems.length > 0) throw new UsageError(`nothing was changed\n${problems.join('\n')}`);
  return plans;
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof InvalidSettingError) return error.problems;
  if (error instanceof NotFound || error instanceof UsageError) return [error.message];
  throw error;
}

const differenceLines = ({ connection, changes, requested, waiting }: FilePlan): readonly string[] => [
  ...changes.map(({ key, before, after, set }) => {
    const author = set === null ? '' : `; the present value was set by ${set.by} at ${set.at}`;
    const request = requested.includes(key) ? '; four eyes: another person must confirm it' : '';
    return `${connection.name}: ${settingDifference(key, before, after)}${author}${request}`;
  }),
  ...waiting.map(
    ({ key, before, after, by, at }) =>
      `${connection.name}: ${settingDifference(key, before, after)} was requested by ${by} at ${at} and waits for another person`,
  ),
];

async function exportFiles(context: Context, path: string): Promise<number> {
  const { out, io } = context;
  const folder = resolve(io.cwd, path);
  const connections = await (await context.ports()).connections.list();
  const different = filesOf(folder, connections).filter((one) => !isWritten(one));
  const files = plural(different.length, 'file');
  const question = `Write ${files} to ${path}? Files of these names are replaced.`;
  if (different.length > 0 && !(await context.confirm(question))) return EXIT.failed;
  writeFiles(folder, different);
  const written = different.map(({ file }) => file);
  out.answer({ folder, connections: connections.length, written }, () =>
    out.line(`${plural(connections.length, 'connection')} in ${path}; ${files} written`),
  );
  return EXIT.done;
}
