import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { type PlatformErrorFacts, UnexpectedBodyError } from './errors.ts';
import { parseDigits } from './version-digits.ts';

export const LIST_LIMITS = {
  /** The longest time without a byte, in milliseconds. */
  idleMs: 15_000,
  /** The time limit of the whole list, in milliseconds. */
  totalMs: 300_000,
  /** The maximum size after decompression. */
  maxBytes: 2 ** 31,
  /** The maximum size of one element, which is compared after each piece. */
  maxElementBytes: 64 * 2 ** 20,
  maxElements: 1_000_000,
};
export type ListLimits = typeof LIST_LIMITS;

class ExactTokenizer extends Tokenizer {
  // The library passes each result on unchanged.
  protected override parseNumber = (digits: string) => parseDigits(digits) as number;
}

/**
 * Reads a JSON array while it arrives, and passes each element to `visit`. Only `end` shows that the array is complete,
 * so the caller must conclude nothing from a missing element before.
 */
export function readElements(
  visit: (element: unknown, at: number) => void,
  limits: ListLimits,
  facts: PlatformErrorFacts,
) {
  const tokenizer = new ExactTokenizer({});
  const array = new TokenParser({ paths: ['$.*'], keepStack: false });
  let found: unknown[] = [];
  let [count, size, sizeBefore] = [0, 0, 0];
  const unexpected = (what: string) =>
    new UnexpectedBodyError(`${what}, in the first ${size} bytes, after ${count} elements`, facts);
  tokenizer.onToken = (first) => {
    if (first.token !== TokenType.LEFT_BRACKET) {
      throw unexpected(
        `expected a list, got ${first.token === TokenType.LEFT_BRACE ? 'an object' : 'a value'}`,
      );
    }
    tokenizer.onToken = (token) => {
      const { value } = token;
      // A platform that cuts texts may send only half of a surrogate pair, which has no UTF-8 form.
      const isHalf = typeof value === 'string' && !value.isWellFormed();
      array.write(isHalf ? { ...token, value: value.toWellFormed() } : token);
    };
    array.write(first);
  };
  array.onValue = ({ value }) => found.push(value);
  const parse = (piece: Uint8Array) => {
    try {
      tokenizer.write(piece);
    } catch (error) {
      // The message of the library quotes the body.
      throw error instanceof UnexpectedBodyError ? error : unexpected('expected JSON');
    }
  };
  return {
    /** @throws UnexpectedBodyError if the body is not a JSON array, or exceeds a limit */
    take(piece: Uint8Array): void {
      size += piece.length;
      parse(piece);
      if (found.length > 0) sizeBefore = size;
      for (const element of found) {
        visit(element, count);
        count += 1;
      }
      found = [];
      if (count > limits.maxElements) throw unexpected(`expected at most ${limits.maxElements} elements`);
      if (size - sizeBefore > limits.maxElementBytes)
        throw unexpected(`expected at most ${limits.maxElementBytes} bytes in one element`);
    },
    /** @throws UnexpectedBodyError if the array has no end */
    end(): void {
      if (!array.isEnded) throw unexpected('expected the end of the list');
    },
  };
}
