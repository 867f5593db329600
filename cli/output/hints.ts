import type { GlobalOptions } from '../io.ts';
import { shellWord } from './words.ts';

/** Says a text in which commands are named so that they can be pasted as they stand; `of`: about another connection. */
export type Spell = (text: string, of?: string) => string;

/**
 * Messages name commands plainly (`groupsync dlq list`). A person who typed `npx groupsync --local …` has to type that
 * again: it is put into every command of a text, behind the name, where options of all commands may stand.
 */
export function createSpell(
  commands: readonly string[],
  { npm_command: npm }: Readonly<Record<string, string | undefined>>,
  options: GlobalOptions,
): Spell {
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
  // Text in quotes and names of parts (groupsync-events) are no commands; `connect` names its connection itself.
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
