import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { formatMoment, MOMENTS, momentOf, UNITS_MS } from '../../shared/contract/moment.ts';
import type { SettingChange } from '../../shared/operate/settings.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../io.ts';

/** Returns the examples that a command's help shows at its end. A test runs each example. */
export const examples = (...lines: readonly string[]) =>
  ['after', ['\nExamples:', ...lines.map((line) => `  groupsync ${line}`)].join('\n')] as const;

const MAX_SECONDS = 86_400;

const numeric = (what: string, fits: (value: number) => boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== '' && fits(value)) return value;
  throw new InvalidArgumentError(`expected ${what}`);
};
export const seconds = numeric(`seconds above 0, at most ${MAX_SECONDS}`, (n) => n > 0 && n <= MAX_SECONDS);
export const wholeNumber = numeric('a whole number above 0', (n) => n > 0 && Number.isInteger(n));
export const port = numeric('a port from 0 to 65535', (n) => Number.isInteger(n) && n >= 0 && n <= 65_535);

/** Parses `KEY=VALUE`. A value that is not JSON is used as text, because users write `mode=report`. */
export function settingChange(text: string): SettingChange {
  const split = text.indexOf('=');
  if (split < 1) throw new UsageError(`expected KEY=VALUE, got "${text}"`);
  const [key, value] = [text.slice(0, split), text.slice(split + 1)];
  try {
    return { key, value: JSON.parse(value) };
  } catch {
    return { key, value };
  }
}

export const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function age(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([dhms])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('expected a duration such as 30m, 2h or 7d');
}

/** Returns the time that a text means (`momentOf`). @throws UsageError */
export function moment(text: string, nowMs: number): number {
  const ms = momentOf(text, nowMs);
  if (ms !== undefined) return ms;
  throw new UsageError(`expected a ${MOMENTS}, got "${text}"`);
}

/** Like `moment`, for a time whose content is used. @throws UsageError also for a time in the future */
export function pastMoment(text: string, nowMs: number): number {
  const ms = moment(text, nowMs);
  if (ms <= nowMs) return ms;
  throw new UsageError(`expected a past time, got ${formatMoment(ms)}`);
}

const REFRESH_MS = 2_000;
export const WATCH = ['--watch', 'refresh every 2 s, until Ctrl-C'] as const;

export function watched<Typed extends unknown[]>(
  show: (context: Context, ...typed: Typed) => Promise<number>,
) {
  return async (context: Context, ...typed: Typed): Promise<number> => {
    const command = typed.at(-1) as unknown as Command;
    if (command.opts<{ watch?: boolean }>().watch !== true) return show(context, ...typed);
    const { out, io } = context;
    for (;;) {
      const exitCode = await show(context, ...typed);
      await sleep(REFRESH_MS, undefined, { signal: io.signal }).catch(() => undefined);
      if (io.signal.aborted) return exitCode;
      out.startAgain();
    }
  };
}
