import type { Check } from '../../contract/answers/connect.ts';
import { DirectoryExamination, type DirectoryStepRow } from '../../contract/answers/directory.ts';
import type { DirectorySetting } from '../../contract/settings.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { fixOfStep } from '../directory/guides/index.ts';
import { type Checked, check, elsewhere, fault, messageOf } from './check.ts';

const LOG = 'aws logs tail "/aws/lambda/$GROUPSYNC_PREFIX-directory" --since 1h';

/**
 * Runs each step of reading the directory in the deployed function, with the function's own role and secret. Returns no
 * check for a connection without a directory.
 */
export async function checkDirectory(
  connection: Connection,
  { functions, deployment }: ToolPorts,
): Promise<Checked> {
  const { name, settings } = connection;
  if (settings.directory === null) return [];
  if (deployment.isConsole) return elsewhere('directory', 'each step of reading the directory');
  let steps: readonly DirectoryStepRow[];
  try {
    const answer = await functions.run('directory', { connection: name, examine: true });
    steps = DirectoryExamination.parse(answer).reports[0].steps;
  } catch (error) {
    const fix = `deploy with directory: true (docs/deploy.md). If the function exists, its log has the reason:\n${LOG}`;
    return fault('directory', `the function directory cannot be called: ${messageOf(error)}`, fix);
  }
  return steps.map((row) => checkOfStep(row, settings.directory as DirectorySetting, name));
}

const checkOfStep = (row: DirectoryStepRow, setting: DirectorySetting, connection: string): Check =>
  check(`directory ${row.step}`, row.problem === null, {
    detail: row.problem ?? row.detail ?? 'works',
    fix: fixOfStep(row, setting, connection),
  });
