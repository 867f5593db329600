import type { GlobalOptions } from '../io.ts';
import { shellWord } from './words.ts';

/** Completes the commands in a text so that they can be pasted. `of`: the connection that the text is about. */
export type CommandFormatter = (text: string, of?: string) => string;

/**
 * Messages contain plain commands (`groupsync dlq list`). If the operator typed `npx groupsync --local …`, the next
 * commands need the same beginning. So the formatter writes this beginning before every command of a text.
 */
export function createCommandFormatter(
  commands: readonly string[],
  { npm_command: npm }: Readonly<Record<string, string | undefined>>,
  options: GlobalOptions,
): CommandFormatter {
  const program = npm === 'exec' ? 'npx groupsync' : 'groupsync';
  const optionsText = (names: readonly ('localFile' | 'prefix' | 'region' | 'profile')[]) =>
    names.flatMap((name) => {
      const value = options[name];
      const flag = name.replace(/[A-Z]/, (capital) => `-${capital.toLowerCase()}`);
      return value === undefined ? [] : [`--${flag} ${shellWord(value)}`];
    });
  const where =
    options.localFile === undefined && options.local === true
      ? ['--local', ...optionsText(['prefix'])]
      : optionsText(['localFile', 'prefix', 'region', 'profile']);
  // Quoted text, resource names (groupsync-events) and the names of probe groups are not commands. `connect` and
  // `connections` take the name of the connection as an argument.
  const named = new RegExp(
    `(?<![\\w"./-])groupsync (?!probe [0-9a-f]{6}\\b)(?=(${commands.join('|')}|--connection)\\b)`,
    'g',
  );
  return (text, of = options.connection) =>
    text.replace(named, (_, first: string) => {
      const isNamed = of === undefined || /^(connect|connections|--connection)$/.test(first);
      const names = isNamed ? [] : [`--connection ${shellWord(of)}`];
      return `${[program, ...where, ...names].join(' ')} `;
    });
}
