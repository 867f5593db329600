import type { Command, Option } from 'commander';
import type { Act } from '../act.ts';
import { EXIT, UsageError } from '../io.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Entry {
  /** Words that lead to the command, after the program's own name. */
  readonly path: readonly string[];
  readonly words: readonly string[];
}

/** Everything that can be typed, read from the commands themselves. */
function completionScript(program: Command, shell: string): string {
  if (!SHELLS.some((one) => one === shell)) {
    throw new UsageError(`expected one of ${SHELLS.join(', ')}, got "${shell}"`);
  }
  const globals = optionsOf(program);
  const entries = [...walk(program, [])].map(({ path, words }) => ({
    path,
    words: [...new Set([...words, ...globals])],
  }));
  return SCRIPTS[shell as Shell](entries);
}

const optionsOf = (command: Command): string[] =>
  command.options.flatMap(({ long, hidden }: Option) => (long == null || hidden ? [] : [long]));

function* walk(command: Command, path: readonly string[]): Generator<Entry> {
  yield { path, words: [...command.commands.map((child) => child.name()), ...optionsOf(command), '--help'] };
  for (const child of command.commands) yield* walk(child, [...path, child.name()]);
}

const cases = (entries: readonly Entry[]): string =>
  entries.map(({ path, words }) => `    '${path.join(' ')}') words='${words.join(' ')}' ;;`).join('\n');

/** Both shells find the longest command in what was typed, and offer its words. */
const SCRIPTS: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = {
  bash: (entries) => `# groupsync completion for bash: source <(groupsync completion bash)
_groupsync() {
  local path='' word words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${path:+$path }$word" in
${entries
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      '${path.join(' ')}') path='${path.join(' ')}' ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
${cases(entries)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _groupsync groupsync
`,
  zsh: (entries) => `#compdef groupsync
# groupsync completion for zsh: source <(groupsync completion zsh)
autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash(entries)}`,
  fish: (entries) =>
    [
      '# groupsync completion for fish: groupsync completion fish | source',
      'complete -c groupsync -e',
      ...entries.map(({ path, words }) => {
        const condition =
          path.length === 0
            ? '__fish_use_subcommand'
            : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
        return `complete -c groupsync -n '${condition}' -a '${words.join(' ')}'`;
      }),
      '',
    ].join('\n'),
};

export function addCompletion(program: Command, act: Act): void {
  program
    .command('completion')
    .description('shell completion, to be sourced')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      '\nExamples:\n  groupsync completion bash > /etc/bash_completion.d/groupsync\n  groupsync completion fish | source',
    )
    .action(
      act(async ({ io }, shell: string) => {
        io.stdout.write(completionScript(program, shell));
        return EXIT.done;
      }),
    );
}
