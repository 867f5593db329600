import { expect, it } from 'vitest';
import { platformUserId } from '../../shared/domain/ids.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { View } from '../../shared/domain/view.ts';
import { viewFrom, viewLines } from '../../shared/store/view-lines.ts';

const [a, b] = ['!a', 'b\n'].map((id) => platformUserId(id));
const plain: View = {
  name: '!alias x',
  spokeId: null,
  users: new Map([
    [a as never, true],
    [b as never, false],
  ]),
};
const waiver = {
  policy: 'adopt' as const,
  seen: 's' as Stamp,
  name: true,
  spokeId: false,
  present: new Set([a as never]),
  absent: new Set([b as never]),
};

it.each([[plain], [{ ...plain, alias: ' !x\n' }], [{ ...plain, waiver }], [{ ...plain, alias: '', waiver }]])(
  'a view is read back as it was written: %o',
  (view) => {
    expect(viewFrom([...viewLines(view)])).toEqual(view);
  },
);

it('a view of before names were remembered has none beside its own', () => {
  expect(viewFrom(['Ours', '+g', '+u'])).toEqual({
    name: 'Ours',
    spokeId: 'g',
    users: new Map([['u', true]]),
  });
});
