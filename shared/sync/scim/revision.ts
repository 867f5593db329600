import type { ScimResource } from '../ports/scim.ts';

/** A revision that changes what clients see; its registers are still to follow. */
export function nextRevision(before: ScimResource, nowMs: number): ScimResource {
  const revision = before.revision + 1;
  const modifiedMs = Math.max(nowMs, before.modifiedMs);
  return { ...before, revision, version: revision, modifiedMs, changedMs: modifiedMs, settled: false };
}

/**
 * A revision that changes nothing that clients see (RFC 7644 section 3.5.2.1: "the modify timestamp shall not change").
 * It states desired state anew all the same, with stamps of its own, so that whatever a crash left undone is done.
 */
export const idleRevision = (before: ScimResource, nowMs: number): ScimResource => ({
  ...nextRevision(before, nowMs),
  version: before.version,
  changedMs: before.changedMs,
});
