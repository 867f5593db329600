import type { Command } from 'commander';
import { EXIT } from '../../../cli/io.ts';
import { createProgram } from '../../../cli/program.ts';
import type { LocalFile } from '../../../local/local-file.ts';
import { commandLine } from '../../../local/options.ts';
import { jsonDocument } from '../../../local/output.ts';
import type { GroupReport } from '../../../local/report.ts';
import { fieldsOf } from './walk.ts';

/** Returns the commands with their flags. A flag includes its argument, because scripts pass the argument. */
export const cliNames = (): readonly string[] => [
  ...commandsOf(createProgram(() => async () => undefined)),
  ...Object.values(EXIT).map((code) => `exit code ${code}`),
];

function commandsOf(command: Command, before = ''): readonly string[] {
  const path = before === '' ? command.name() : `${before} ${command.name()}`;
  return [
    path,
    ...command.aliases().map((alias) => `${path}, also ${alias}`),
    ...flagsOf(command).map((flag) => `${path} ${flag}`),
    ...command.commands.flatMap((child) => commandsOf(child, path)),
  ];
}

const flagsOf = (command: Command): readonly string[] =>
  command.options.flatMap(({ long, short, required, optional, argChoices }) => {
    const optionalValue = optional ? ' [VALUE]' : '';
    const value = required ? ' VALUE' : optionalValue;
    const names = [long, short].filter((name) => name !== undefined);
    const choices = (argChoices ?? []).map((choice) => `${long} ${choice}`);
    return [...names.map((name) => `${name}${value}`), ...choices];
  });

export const startFlags = (): readonly string[] => flagsOf(commandLine());

/** A group report with every field. The compiler fails if a field is missing. */
const GROUP: GroupReport = {
  connection: 'c',
  id: 'g',
  name: 'G',
  platformId: 'p',
  version: 'v',
  state: 'in_sync',
  wanted: 1,
  applied: 1,
  users: ['u'],
  pending: [{ id: 'm', cause: 'unknown', sinceMs: 0 }],
  waiting: { until: 't', code: 'as_wanted', reason: 'r' },
};

/** The fields of the document of `npm start -- --json`. */
export function startDocument(localFileKeys: readonly string[]): readonly string[] {
  const address = Object.fromEntries(localFileKeys.map((key) => [key, key])) as unknown as LocalFile;
  return fieldsOf(JSON.parse(jsonDocument({ converged: true, groups: [GROUP], elapsedMs: 1, address })));
}
