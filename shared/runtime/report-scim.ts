import type { ScimReport } from '../sync/scim/handle.ts';
import { errorFields, type Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

export interface ScimCall {
  readonly method: string;
  /** First part of the path below the base: `Users`, never an id or a filter. */
  readonly endpoint: string;
  readonly elapsedMs: number;
}

/** One line and a few numbers per request: no ids, no filters, no bodies, which hold names and addresses. */
export function reportScim(
  { reply, connection, cause }: ScimReport,
  { method, endpoint, elapsedMs }: ScimCall,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): void {
  const { status } = reply;
  metrics.emit('ScimRequests', 1, connection);
  metrics.emit('ScimLatencyMs', elapsedMs);
  if (status >= 500) metrics.emit('ScimFailures', 1);
  else if (status >= 400) metrics.emit('ScimRefusals', 1, String(status));
  const level = status >= 500 ? 'error' : 'info';
  logger[level]('answered', {
    connection,
    method,
    endpoint,
    status,
    elapsedMs,
    ...(cause === undefined ? {} : errorFields(cause)),
  });
}

const ENDPOINTS = new Set([
  'Users',
  'Groups',
  'Bulk',
  'Me',
  '.search',
  'ServiceProviderConfig',
  'ResourceTypes',
  'Schemas',
]);

/** What of a path may be logged. */
export function endpointOf(path: string): string {
  const [, , , first = ''] = path.split('/');
  return ENDPOINTS.has(first) ? first : 'other';
}
