import type { AdoptedPair } from '../../shared/contract/answers/connect.ts';
import { plural, shellWords, visible } from './words.ts';

const SHOWN = 10;

export function* clashLines(clashes: readonly AdoptedPair[]): Generator<string> {
  if (clashes.length === 0) return;
  yield `warning: ${plural(clashes.length, 'group')} on the platform ${clashes.length === 1 ? 'has the name of a directory group, and is' : 'have the names of directory groups, and are'} not managed by groupsync`;
  for (const { group, name, platformId } of clashes.slice(0, SHOWN)) {
    yield `  ${platformId} "${visible(name)}"; to adopt it instead: groupsync adopt ${shellWords(group, platformId)}`;
  }
  if (clashes.length > SHOWN) yield `  … and ${clashes.length - SHOWN} more`;
}
