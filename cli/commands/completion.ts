import { type Command, Option } from 'commander';
import type { Completable } from '../../shared/operate/complete.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { visible } from '../output/words.ts';
import { examples } from './arguments.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Entry {
  /** The command's words on the command line, without the program's name. */
  readonly path: readonly string[];
  readonly words: readonly string[];
  /**
   * The kind of ids that the command's argument takes. Empty if the command has no argument, or if the deployment has
   * no list of such ids.
   */
  readonly ids: Completable | '';
}

const IDS: Readonly<Record<string, Completable>> = {
  group: 'group',
  groups: 'group',
  id: 'letter',
  prefix: 'token',
  client: 'client',
};

function idsOf([first, second]: readonly string[], { registeredArguments: [argument] }: Command) {
  const name = argument?.name() ?? '';
  if (first === 'holds' && name === 'group') return 'hold';
  if (first === 'connect' || (first === 'connections' && second !== undefined)) return 'connection';
  return IDS[name] ?? '';
}

function completionScript(program: Command, shell: string): string {
  if (!SHELLS.some((one) => one === shell)) {
    throw new UsageError(`expected one of ${SHELLS.join(', ')}, got "${shell}"`);
  }
  const globals = optionsOf(program);
  const entries = [...walk(program, [])].map(({ words, ...rest }) => ({
    ...rest,
    words: [...new Set([...words, ...globals])],
  }));
  return SCRIPTS[shell as Shell](entries);
}

const optionsOf = (command: Command): string[] =>
  command.options.flatMap(({ long, hidden }: Option) => (long == null || hidden ? [] : [long]));

function* walk(command: Command, path: readonly string[]): Generator<Entry> {
  const words = [...command.commands.map((child) => child.name()), ...optionsOf(command), '--help'];
  yield { path, words, ids: idsOf(path, command) };
  for (const child of command.commands) yield* walk(child, [...path, child.name()]);
}

const cases = (entries: readonly Entry[]): string =>
  entries
    .map(({ path, words, ids }) => `    '${path.join(' ')}') words='${words.join(' ')}' ids='${ids}' ;;`)
    .join('\n');

const KINDS: readonly Completable[] = ['connection', 'group', 'hold', 'letter', 'token', 'client'];
const GLOBALS_WITH_VALUE = ['--connection', '--prefix', '--region', '--profile', '--local-file'] as const;

/**
 * The bash script, which zsh also runs, offers the completions of the longest command in the typed words. The fish
 * script offers the completions of each command whose words were typed. No script uses a variable `path`, because zsh
 * uses this name for PATH.
 */
const SCRIPTS: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = {
  bash: (entries) => `# groupsync completion for bash: source <(groupsync completion bash)
_groupsync() {
  local typed='' word words='' ids='' id i globals=() current="\${COMP_WORDS[COMP_CWORD]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$word" in
      --local) globals+=("$word") ;;
      ${GLOBALS_WITH_VALUE.join('|')}) globals+=("$word" "\${COMP_WORDS[i + 1]}") ;;
    esac
    case "\${typed:+$typed }$word" in
${entries
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      '${path.join(' ')}') typed='${path.join(' ')}' ;;`)
  .join('\n')}
    esac
  done
  case "$typed" in
${cases(entries)}
  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    --group) ids=group words='' ;;
    --connection) ids=connection words='' globals=("\${globals[@]:0:\${#globals[@]}-2}") ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -z $ids || $current == -* ]] && return
  # Names may contain special characters of the shell. They are not expanded, and are quoted.
  while IFS= read -r id; do
    [[ $id == "$current"* ]] && COMPREPLY+=("$(printf %q "$id")")
  done < <("\${COMP_WORDS[0]}" "\${globals[@]}" completion bash --ids "$ids" 2>/dev/null)
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
      FISH_IDS,
      ...['connection', 'group'].map(
        (name) => `complete -c groupsync -l ${name} -x -a '(__groupsync_ids ${name})'`,
      ),
      ...entries.map(({ path, words, ids }) => {
        const condition =
          path.length === 0
            ? '__fish_use_subcommand'
            : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
        const offered = ids === '' ? words : [...words, `(__groupsync_ids ${ids})`];
        return `complete -c groupsync -n '${condition}' -a '${offered.join(' ')}'`;
      }),
      '',
    ].join('\n'),
};

const FISH_IDS = `function __groupsync_ids
  set -l words (commandline -opc)
  set -l globals
  for i in (seq 2 (count $words))
    switch $words[$i]
      case --local
        set -a globals $words[$i]
      case ${GLOBALS_WITH_VALUE.join(' ')}
        test $i -lt (count $words); and set -a globals $words[$i] $words[(math $i + 1)]
    end
  end
  groupsync $globals completion fish --ids $argv[1] 2>/dev/null
end`;

const TIMEOUT_MS = 2_000;

/**
 * Prints ids of one kind, one per line. If they cannot be read within `TIMEOUT_MS`, it prints nothing, so that the
 * shell stays responsive.
 */
async function printIds(context: Context, kind: Completable): Promise<number> {
  const timeout = new Promise<never[]>((resolve) => setTimeout(resolve, TIMEOUT_MS, []).unref());
  const read = async () => {
    const { COMPLETIONS } = await import('../../shared/operate/complete.ts');
    return COMPLETIONS[kind](await context.ports(), context.connection);
  };
  const ids: readonly (string | undefined)[] = await Promise.race([read().catch(() => []), timeout]);
  const shown = ids.filter((id) => id !== undefined && id === visible(id));
  for (const id of new Set(shown)) context.io.stdout.write(`${id}\n`);
  return EXIT.done;
}

export function addCompletion(program: Command, act: Act): void {
  program
    .command('completion')
    .description('print a shell completion script')
    .argument('<shell>', SHELLS.join(', '))
    .addOption(new Option('--ids <kind>').choices(KINDS).hideHelp())
    .addHelpText(
      ...examples('completion bash > /etc/bash_completion.d/groupsync', 'completion fish | source'),
    )
    .action(
      act(async (context, shell: string, { ids }: { readonly ids?: Completable }) => {
        if (ids !== undefined) return printIds(context, ids);
        context.io.stdout.write(completionScript(program, shell));
        return EXIT.done;
      }),
    );
}
