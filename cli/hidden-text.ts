import type { TextOptions } from '@clack/prompts';
import { type Io, Stopped, UsageError } from './io.ts';

const MAX_LENGTH = 65_536;

interface Question {
  readonly title: string;
  /** The option with which the command reads the text from standard input. */
  readonly option: string;
  readonly isPiped: boolean;
}

/**
 * Reads a secret from standard input or a hidden prompt. Other users of the machine could see an argument.
 * @throws UsageError without a terminal, and for an empty or too long text
 * @throws Stopped at Ctrl-C
 */
export async function readHidden(io: Io, { title, option, isPiped }: Question): Promise<string> {
  if (!isPiped) {
    if (io.stdin.isTTY !== true)
      throw new UsageError(`without a terminal, pass the token on standard input with ${option}`);
    return nonEmpty(await prompt(io, 'password', { message: title }));
  }
  let text = '';
  for await (const chunk of io.stdin) {
    text += String(chunk);
    if (text.length > MAX_LENGTH) throw new UsageError('standard input is too long for a token');
  }
  return nonEmpty(text);
}

function nonEmpty(text: string): string {
  const token = text.trim();
  if (token === '') throw new UsageError('expected a token, got nothing');
  return token;
}

/** @throws Stopped at Ctrl-C */
export async function prompt(io: Io, kind: 'text' | 'password', question: TextOptions): Promise<string> {
  const clack = await import('@clack/prompts');
  const answer = await clack[kind]({ ...question, input: io.stdin, output: io.stderr });
  if (clack.isCancel(answer)) throw new Stopped();
  return answer;
}
