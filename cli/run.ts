import { type Command, CommanderError } from 'commander';
import { type Act, createContext } from './context.ts';
import { describeError } from './describe-error.ts';
import { EXIT, type GlobalOptions, type Io, refuseContradictions } from './io.ts';
import { type CommandFormatter, createCommandFormatter } from './output/hints.ts';
import { visibleLines } from './output/words.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command line. It does not throw: errors are printed to standard error, without a stack trace.
 * @param args without the interpreter and the script
 * @returns the exit code: 0 done, 1 failed, 2 usage, 3 done but something needs attention
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.done;
  let formatCommands: CommandFormatter = (text) => text;
  const act: Act =
    (handler) =>
    async (...typed) => {
      const command = typed.at(-1) as Command;
      const options = command.optsWithGlobals<GlobalOptions>();
      refuseContradictions(pathOf(command), options);
      const names = program.commands.map((one) => one.name());
      formatCommands = createCommandFormatter(names, io.env, options);
      const context = createContext(io, options, formatCommands);
      try {
        exitCode = await handler(context, ...typed);
      } finally {
        await context.close().catch(() => undefined);
      }
    };
  const program = createProgram(act);
  for (const command of everyCommand(program)) {
    const others = command.parent?.commands.map((one) => one.name()).join(', ');
    command.exitOverride();
    command.configureHelp({ minWidthToWrap: 20, showGlobalOptions: true });
    command.configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(visibleLines(text)),
      // If a command has `list` as its default, commander reports an unknown subcommand as an argument of `list`.
      outputError: (text, write) => {
        const message = text
          .replace(/^error: /, 'groupsync: ')
          .replace(/(?<=for 'list')\..*/, `; try ${others}`);
        write(message.replace(/(unknown command '.*')\n$/, `$1; list the commands: ${helpOf(command)}\n`));
      },
    });
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander also throws after it prints help or the version. Help is printed for `groupsync` without a command too.
    if (error instanceof CommanderError)
      return error.exitCode === 0 || error.code === 'commander.help' ? EXIT.done : EXIT.usage;
    const { exitCode: code, text } = describeError(error);
    io.stderr.write(`groupsync: ${visibleLines(formatCommands(text))}\n`);
    return code;
  }
}

function helpOf(command: Command): string {
  const path = command.parent === null ? 'groupsync' : `groupsync ${command.name()}`;
  return `${path} --help`;
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const child of command.commands) yield* everyCommand(child);
}
