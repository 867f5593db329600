/*
 * The types of the `--json` documents. The package exports them as `groupsync/answers`. The schemas in
 * `docs/cli/schemas` describe the same documents. A later version may add fields, and removes none.
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
export * from '../shared/contract/answers/settings.ts';
export * from '../shared/contract/answers/status.ts';
