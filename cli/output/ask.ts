import { createInterface } from 'node:readline/promises';
import { type Io, Stopped, UsageError } from '../io.ts';
import { visible } from './words.ts';

export const canAsk = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true;

/** Within this time, the terminal delivers input that was typed before the prompt. This input is discarded. */
const TYPED_AHEAD_MS = 40;
const CTRL_C = '\u0003';

/**
 * Prompts for one line on standard error. Input typed before the prompt is discarded.
 * @throws Stopped at Ctrl-C and at the end of the input
 */
export async function askLine({ stdin, stderr, signal }: Io, question: string): Promise<string> {
  await dropTypedAhead(stdin);
  const prompt = createInterface({ input: stdin, output: stderr, terminal: true });
  const left = new AbortController();
  for (const event of ['SIGINT', 'close'] as const) prompt.once(event, () => left.abort());
  try {
    return (await prompt.question(question, { signal: AbortSignal.any([signal, left.signal]) })).trim();
  } catch {
    stderr.write('\n');
    throw new Stopped();
  } finally {
    prompt.close();
  }
}

async function dropTypedAhead(stdin: Io['stdin'] & { setRawMode?: (raw: boolean) => unknown }) {
  let isStopped = false;
  const drop = (chunk: unknown) => {
    isStopped ||= String(chunk).includes(CTRL_C);
  };
  stdin.setRawMode?.(true);
  stdin.on('data', drop);
  await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS));
  stdin.off('data', drop);
  stdin.pause();
  stdin.setRawMode?.(false);
  if (isStopped) throw new Stopped();
}

/** Returns true only for `y` and `yes`. @throws UsageError without a terminal */
export async function askYes(io: Io, question: string): Promise<boolean> {
  if (!canAsk(io)) {
    throw new UsageError('this command needs confirmation, and there is no terminal; add --yes');
  }
  const isYes = /^y(es)?$/i.test(await askLine(io, `${visible(question)} [y/N] `));
  if (!isYes) io.stderr.write('nothing was changed\n');
  return isYes;
}
