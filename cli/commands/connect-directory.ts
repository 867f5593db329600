import * as z from 'zod';
import { DirectoryPreview, DirectoryStepRow } from '../../shared/contract/answers/directory.ts';
import { nullable } from '../../shared/contract/answers/forms.ts';
import { type ConnectionName, groupId } from '../../shared/domain/ids.ts';
import { connectOptionsOf, fixOfStep, guidePageOf } from '../../shared/operate/directory/guides/index.ts';
import { comparePlatform, previewDirectory } from '../../shared/operate/directory/preview.ts';
import { isReplaced, refuseOwnerless } from '../../shared/operate/directory/reader-groups.ts';
import { observeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { EXIT, HintedError } from '../io.ts';
import { plural } from '../output/words.ts';
import { type NamedDirectory, namedDirectory } from './directory-source.ts';
import type { DirectoryOptions } from './directory-vendors.ts';

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
  if (isReplaced(found.settings.directory, setting)) await ports.reader.forget(name);
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

const previewByKey = (
  { connection, setting, present }: NamedDirectory,
  ports: ToolPorts,
): Promise<DirectoryPreview> =>
  present()
    .then((directory) => previewDirectory(connection, directory, ports))
    .catch((error: Error) => {
      if (!(error instanceof DirectoryError)) throw error;
      throw new HintedError(
        `nothing was stored: ${error.message}; ${guidePageOf(setting.kind)}`,
        'groupsync directory status',
      );
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
async function previewByFunction(
  { connection, setting }: NamedDirectory,
  ports: ToolPorts,
): Promise<DirectoryPreview> {
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
