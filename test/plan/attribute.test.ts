import { describe, expect, it } from 'vitest';
import { DRIFT_KINDS, type DriftKind } from '../../shared/domain/drift.ts';
import { attribute, UNATTRIBUTED } from '../../shared/plan/attribute.ts';

const trace = (id: string, type: string, initiator = 'ROLE') => ({ id, type, initiator, at: null });
const TYPES = [
  'EXTERNAL_GROUP_ADD',
  'EXTERNAL_GROUP_REMOVE',
  'EXTERNAL_GROUP_MEMBER_ADD',
  'EXTERNAL_GROUP_MEMBER_REMOVE',
  'SOMETHING_NEW',
];
/** Which of the types above explain a difference. */
const EXPLAINED: Readonly<Record<DriftKind, readonly string[]>> = {
  name: ['SOMETHING_NEW'],
  spoke_id: ['SOMETHING_NEW'],
  members_added: ['EXTERNAL_GROUP_MEMBER_ADD'],
  members_removed: ['EXTERNAL_GROUP_MEMBER_REMOVE'],
  deleted: ['EXTERNAL_GROUP_REMOVE'],
  recreated: ['EXTERNAL_GROUP_REMOVE'],
  duplicate_spoke_id: ['EXTERNAL_GROUP_ADD', 'SOMETHING_NEW'],
};

describe('attribute', () => {
  it('names nobody where no event told of it', () => {
    expect(attribute('name', [])).toEqual(UNATTRIBUTED);
    expect(UNATTRIBUTED).toEqual({ initiator: 'UNKNOWN', eventIds: [] });
  });

  it.each(DRIFT_KINDS)('takes the events that explain %s', (kind) => {
    const traces = TYPES.map((type) => trace(type, type));
    expect(attribute(kind, traces).eventIds).toEqual(EXPLAINED[kind]);
  });

  it('takes all events where none explains it', () => {
    const traces = [trace('1', 'EXTERNAL_GROUP_ADD'), trace('2', 'EXTERNAL_GROUP_MEMBER_ADD')];
    expect(attribute('deleted', traces).eventIds).toEqual(['1', '2']);
  });

  it('names the person before the platform, and the platform before an application', () => {
    const order = ['WHOEVER', 'EXTERNAL', 'SYSTEM', 'ROLE'];
    for (let count = 1; count <= order.length; count += 1) {
      const hands = order.slice(0, count).map((initiator) => trace(initiator, 'SOMETHING_NEW', initiator));
      const strongest = order[count - 1];
      const found = { initiator: strongest, eventIds: [strongest] };
      expect(attribute('name', hands)).toEqual(found);
      expect(attribute('name', hands.toReversed())).toEqual(found);
    }
  });

  it('names the first of two that are alike', () => {
    const hands = [trace('1', 'NEW', 'ONE'), trace('2', 'NEW', 'TWO'), trace('3', 'NEW', 'ONE')];
    expect(attribute('name', hands)).toEqual({ initiator: 'ONE', eventIds: ['1', '3'] });
  });
});
