import { expect, it } from 'vitest';
import { withWrite } from '../../../shared/scim/protocol/member-writes.ts';

it('a new write of members removes a write that has run for 60 s, unless another request can finish it', () => {
  const writes = new Map([
    ['dead', 0],
    ['held', 0],
    ['open', 1],
  ]);
  const held = new Map([['held', {}]]);
  expect([...withWrite(writes, { id: 'new', nowMs: 60_000, held }).keys()]).toEqual(['held', 'open', 'new']);
});
