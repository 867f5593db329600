import type { Context } from './context.ts';

/** Makes what a command does its action: it is given its context and then what was typed; its answer is the exit code. */
export type Act = <Typed extends unknown[]>(
  handler: (context: Context, ...typed: Typed) => Promise<number>,
) => (...typed: Typed) => Promise<void>;
