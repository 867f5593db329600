import { Command, Option } from 'commander';
import { VERSION } from '../shared/contract/version.ts';
import { addAdopt, addOwnership } from './commands/adopt.ts';
import { addBlock } from './commands/block.ts';
import { addConnect } from './commands/connect.ts';
import { addConnections } from './commands/connections.ts';
import { addConsole } from './commands/console.ts';
import { addDeliveries } from './commands/deliveries.ts';
import { addDeploy } from './commands/deploy.ts';
import { addDestroy } from './commands/destroy.ts';
import { addDirectory } from './commands/directory.ts';
import { addDlq } from './commands/dlq.ts';
import { addDoctor, addNotify, addProbe } from './commands/doctor.ts';
import { addEvents } from './commands/events.ts';
import { addEvidence } from './commands/evidence.ts';
import { addExplain, addPerson } from './commands/explain.ts';
import { addHolds } from './commands/holds.ts';
import { addImport } from './commands/import.ts';
import { addLists } from './commands/lists.ts';
import { addLog } from './commands/log.ts';
import { addMembers } from './commands/members.ts';
import { addPause } from './commands/pause.ts';
import { addPlan } from './commands/plan.ts';
import { addPlatformGroups } from './commands/platform-groups.ts';
import { addReconcile } from './commands/reconcile.ts';
import { addScim } from './commands/scim.ts';
import { addStatus } from './commands/status.ts';
import type { Act } from './context.ts';
import { DEFAULT_LOCAL_FILE } from './local-file.ts';

const AFTER = `
Exit codes: 0 done, 1 failed or stopped, 2 usage, 3 done but something needs attention.

"groupsync start" runs the local stack, "groupsync platform" the simulated platform alone (both: --help).

Examples:
  groupsync --local status                    the stack of npm start
  groupsync --profile prod --region eu-west-1 doctor
  groupsync plan 00g1                         what would be written, and why
  groupsync dlq replay --code unknown_connection`;

/** All commands. `shared/operate` does the work; the commands parse arguments and print results. */
export function createProgram(act: Act): Command {
  const program = new Command('groupsync')
    .description("Syncs the groups of the Workforce Platform with the groups of a company's directory.")
    .version(VERSION, '--version', 'show the version')
    .option('--connection <name>', 'which company (default: default)')
    .option('--prefix <prefix>', 'prefix of the deployment (default: $GROUPSYNC_PREFIX, or groupsync)')
    .option('--region <region>', 'AWS region')
    .option('--profile <profile>', 'AWS profile')
    .option('--local', 'use the local stack of npm start instead of AWS')
    .option(
      '--local-file <path>',
      `file of the local stack (default: ${DEFAULT_LOCAL_FILE}); implies --local`,
    )
    .option('--json', 'one JSON document on standard output, as docs/cli/schemas describes')
    .option('--no-color', 'no colours (only terminals get colours; NO_COLOR has the same effect)')
    .option('--quiet', 'print only errors on standard error')
    .addOption(new Option('-o, --output <format>', 'tables in full, or as CSV').choices(['wide', 'csv']))
    .option('-y, --yes', 'do not ask for confirmation')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', AFTER)
    .showSuggestionAfterError();
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, act);
  }
  return program;
}

const COMMANDS = {
  'Watch:': [
    addStatus,
    addExplain,
    addPerson,
    addMembers,
    addLists,
    addLog,
    addDeliveries,
    addEvidence,
    addDoctor,
  ],
  'Decide:': [addHolds, addPlatformGroups, addAdopt, addOwnership],
  'Change:': [addPlan, addBlock, addPause, addReconcile],
  'Publish:': [addEvents, addImport, addDlq],
  'Administer:': [
    addDeploy,
    addDestroy,
    addConnect,
    addConnections,
    addDirectory,
    addScim,
    addProbe,
    addNotify,
    addConsole,
  ],
} as const;
