import { type DeliveryOf, firstIds } from '../../domain/delivery.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import { DirectoryError } from '../ports.ts';
import type { DirectoryRunReport } from './context.ts';

interface Run {
  /** undefined if the run has stopped. */
  readonly report: DirectoryRunReport | undefined;
  /** The error that has stopped the run. The log has its message. */
  readonly error?: unknown;
  readonly startedMs: number;
  readonly nowMs: number;
}

/** Returns the record of a run that reported a change, read a group or failed; undefined for any other run. */
export function deliveryOfRun({ report, error, startedMs, nowMs }: Run): DeliveryOf['delivery'] | undefined {
  const { reported = 0, read = 0, sent = 0, failed = 0, deleted = [] } = report ?? {};
  const counts = Object.entries({ reported, read, sent, failed }).filter(([, count]) => count > 0);
  if (counts.length === 0 && error === undefined) return undefined;
  return {
    atMs: startedMs,
    client: { kind: 'reader', id: READER_SOURCE },
    request: 'read directory',
    summary: counts.map(([name, count]) => `${name} ${count}`).join(', ') || 'stopped',
    outcome: failed > 0 || error !== undefined ? 'failed' : 'accepted',
    status: null,
    code: error instanceof DirectoryError ? error.kind : null,
    detail: null,
    filter: null,
    ...firstIds({ groups: deleted, members: [] }),
    events: [],
    bytes: 0,
    elapsedMs: nowMs - startedMs,
  };
}
