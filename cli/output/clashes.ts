import type { AdoptedPair } from '../../shared/contract/answers.ts';
import { plural, shellWords, visible } from './words.ts';

/** Groups that are listed one by one. */
const SHOWN = 10;

/** A warning of groups that would be created although the platform has groups of their names; with what prevents it. */
export function* clashLines(clashes: readonly AdoptedPair[]): Generator<string> {
  if (clashes.length === 0) return;
  yield `warning: ${plural(clashes.length, 'group')} on the platform would be duplicated: same name, not managed by groupsync`;
  for (const { group, name, platformId } of clashes.slice(0, SHOWN)) {
    yield `  ${platformId} "${visible(name)}"; to take it over instead: groupsync adopt ${shellWords(group, platformId)}`;
  }
  if (clashes.length > SHOWN) yield `  … and ${clashes.length - SHOWN} more`;
}
