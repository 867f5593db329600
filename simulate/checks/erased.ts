import type { Checker } from './observation.ts';
import { readItem } from './stored.ts';

/** An erasure keeps this attribute. It decides about memberships, and it is not personal data. */
const ACTIVE = 'active';

interface StoredUser {
  readonly erasedMs?: number;
  readonly attributes: Readonly<Record<string, { readonly value: string; readonly stamp: string }>>;
}

/** After an operator erases a person, checks that no earlier attribute of this person is stored. */
export const createErased =
  (): Checker =>
  ({ seen, accuse }) => {
    for (const { kind, connection, member, done, crashed } of seen.operators.actions) {
      if (kind !== 'forget' || !done || crashed || member === undefined) continue;
      const user = readItem<StoredUser>(seen, `U#${connection}#${member} USER`);
      if (user === undefined) continue;
      const { erasedMs = Number.POSITIVE_INFINITY, attributes } = user;
      const kept = Object.entries(attributes).filter(
        ([name, { value, stamp }]) =>
          !name.endsWith(ACTIVE) && value !== '' && Date.parse(`${stamp.slice(0, 23)}Z`) < erasedMs,
      );
      if (kept.length === 0) continue;
      const names = kept.map(([name]) => name).join(', ');
      const sentence = `The person of ${member} was erased. Expected no stored attribute from before the erasure, but the table contains ${names}.`;
      accuse('erased', 'attributes_kept', { connection }, sentence);
    }
  };
