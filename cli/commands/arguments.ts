import { InvalidArgumentError } from 'commander';

const MAX_SECONDS = 86_400;

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(`expected seconds above 0, at most ${MAX_SECONDS}`);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('expected a number above 0');
}

export function wholeNumber(text: string): number {
  const value = positiveNumber(text);
  if (Number.isInteger(value)) return value;
  throw new InvalidArgumentError('expected a whole number above 0');
}
