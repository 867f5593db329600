/*
 * The types of the documents of `--json`, which the package exports as `groupsync/answers`. The use cases return the
 * types that are derived from these schemas, so the two cannot differ. docs/cli/schemas is generated from the same
 * schemas. Fields may be added, and are never removed.
 */
export * from '../shared/contract/answers/connect.ts';
export * from '../shared/contract/answers/dead-letters.ts';
export * from '../shared/contract/answers/directory.ts';
export * from '../shared/contract/answers/explain.ts';
export * from '../shared/contract/answers/files.ts';
export * from '../shared/contract/answers/groups.ts';
export * from '../shared/contract/answers/holds.ts';
export * from '../shared/contract/answers/platform-groups.ts';
export * from '../shared/contract/answers/reconcile.ts';
export * from '../shared/contract/answers/status.ts';
