import type { Command } from 'commander';
import type { Context } from './context.ts';

/** Gives a command its context and takes its exit code. */
export type Act = (command: Command, handler: (context: Context) => Promise<number>) => Promise<void>;
