import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { UsageError } from './io.ts';

const EVERY_MS = 2_000;
export const WATCH = ['--watch', 'draw it anew every 2 s, until Ctrl-C'] as const;

/** With `--watch` a command that only shows something does so again and again. */
export function watched<Typed extends unknown[]>(
  show: (context: Context, ...typed: Typed) => Promise<number>,
) {
  return async (context: Context, ...typed: Typed): Promise<number> => {
    const command = typed.at(-1) as unknown as Command;
    if (command.opts<{ watch?: boolean }>().watch !== true) return show(context, ...typed);
    const { out, io } = context;
    if (out.json) throw new UsageError('--watch draws for people; scripts run the command again with --json');
    for (;;) {
      const exitCode = await show(context, ...typed);
      await sleep(EVERY_MS, undefined, { signal: io.signal }).catch(() => undefined);
      if (io.signal.aborted) return exitCode;
      out.startAgain();
    }
  };
}
