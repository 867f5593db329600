import type { DirectoryChange, DirectoryEvent } from '../../domain/event.ts';
import { foldEvents } from '../../domain/fold.ts';
import { makeStamp, type Stamp } from '../../domain/stamp.ts';
import { Failures } from '../ingest/failures.ts';
import { storeFold } from '../ingest/store-fold.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';

/** A change of desired state and the resource whose revision dates it. */
export interface Recorded {
  readonly by: ScimResource;
  readonly change: DirectoryChange;
}

const SOURCE = 'scim';

/**
 * Stamps of a resource follow its revisions: time first, which never goes back, then the revision as the sequence.
 * They are a function of the resource, so what is recorded again after a crash is the same event again.
 */
export const stampOf = ({ id, modifiedMs, revision }: ScimResource, operation = 0): Stamp =>
  makeStamp({
    time: new Date(modifiedMs).toISOString(),
    sequence: String(revision),
    id,
    source: SOURCE,
    operation,
  });

/**
 * Records what a request changes just as ingest records events: registers, then rev and dirty, then the wake-up.
 * @throws Error where something could not be written or sent; the client sees a 500 and tries again
 */
export async function record(
  changes: readonly Recorded[],
  { ports, connection, actor }: ScimContext,
): Promise<void> {
  const events = changes.map(
    ({ by, change }, operation): DirectoryEvent => ({
      connection,
      id: by.id,
      source: SOURCE,
      stamp: stampOf(by, operation),
      actor,
      change,
    }),
  );
  const failures = new Failures();
  const nobody = { ofGroup: () => [], ofUser: () => [] };
  for (const fold of foldEvents(events).values()) await storeFold(fold, { ports, failures, origins: nobody });
  if (failures.causes.length > 0) {
    throw new Error('desired state could not be recorded', { cause: failures.causes[0] });
  }
}
