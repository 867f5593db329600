import { relative, resolve } from 'node:path';
import { shellWord } from '../shared/operate/names.ts';
import { DEMO } from './demo/day.ts';
import type { OpenDirectory } from './directory/open-directory.ts';
import { DEFAULT_LOCAL_FILE, type LocalFile } from './local-file.ts';
import type { GroupReport } from './report.ts';
import { groupsSummary, groupsTable } from './table.ts';

interface RunResult {
  readonly converged: boolean;
  readonly groups: readonly GroupReport[];
  readonly elapsedMs: number;
  readonly address: LocalFile;
  /** URL of the console, if the console runs. */
  readonly page?: string | undefined;
  /** The simulated directory, if the stack reads one. */
  readonly directory?: Pick<OpenDirectory, 'url' | 'tryCommand'> | undefined;
}

/**
 * Returns the document of `--json` as one line. Readers must take the last line of the output, because npm prints two
 * lines first without `--silent`. `endpoints` is the content of the local file without the process id and the tokens.
 */
export function jsonDocument({ converged, groups, elapsedMs, address }: RunResult): string {
  const { pid: _pid, platformToken: _token, scimToken: _scimToken, ...endpoints } = address;
  return `${JSON.stringify({ groups, endpoints, converged, elapsedMs })}\n`;
}

export function readableReport(
  { converged, groups, elapsedMs, address, page, directory }: RunResult,
  options: {
    readonly once: boolean;
    readonly localFile: string;
    readonly logPath: string;
    readonly consoleLogin?: boolean;
    readonly isDemo?: boolean;
  },
): string {
  const seconds = (elapsedMs / 1000).toFixed(1);
  const outcome = converged
    ? `converged after ${seconds} s`
    : `NOT converged after ${seconds} s; the handlers' log is in ${shown(options.logPath)}`;
  const lines = [groupsTable(groups), `${groupsSummary(groups)}; ${outcome}`];
  if (!options.once) lines.push('', ...endpointLines(address, options, page), ...directoryLines(directory));
  if (options.isDemo === true) lines.push('', ...thingsToTry(commandFor(options.localFile), page));
  return `${lines.join('\n')}\n`;
}

/** Returns the beginning of each command about this stack, ready for pasting. */
export function commandFor(localFile: string): string {
  const isDefault = resolve(localFile) === resolve(DEFAULT_LOCAL_FILE);
  return `npx groupsync ${isDefault ? '--local' : `--local-file ${shellWord(shown(localFile))}`}`;
}

/** Returns the address of the console, with its validity or the accounts for the sign-in. */
export const consoleLines = (
  page: string,
  options: { readonly localFile: string; readonly consoleLogin?: boolean },
): readonly string[] => [
  `console     ${page}`,
  options.consoleLogin === true
    ? SIGN_IN
    : `            expires 15 minutes after it is first opened; for a new address: ${commandFor(options.localFile)} console`,
];

const SIGN_IN = '            sign in as viewer, approver, operator or administrator, with any password';

const endpointLines = (
  address: LocalFile,
  options: { localFile: string; logPath: string; consoleLogin?: boolean },
  page: string | undefined,
): string[] => [
  ...(page === undefined ? [] : consoleLines(page, options)),
  `platform    ${address.platform}`,
  `AWS         ${address.dynamodb} (DynamoDB, Secrets Manager, Lambda, Scheduler)`,
  `SQS         ${address.sqs}`,
  `events      ${address.eventsQueueUrl}`,
  `SCIM        ${address.scim}, token ${address.scimToken}`,
  `addresses   ${shown(options.localFile)}, read by ${commandFor(options.localFile)}`,
  `log         ${shown(options.logPath)}`,
  'Ctrl-C stops.',
];

/** Returns three tasks of an operator, each with a command and the address of its page. */
function thingsToTry(command: string, page: string | undefined): readonly string[] {
  const { hold, unmatched, contractors } = DEMO;
  const tasks = [
    [`Decide about the removals that wait in ${hold.name}:`, `holds show ${hold.id}`, `/holds/${hold.id}`],
    [
      `Find out why ${contractors[0].name} is not in the group ${unmatched.name}:`,
      `explain ${unmatched.name} ${contractors[0].email}`,
      `/people/${contractors[0].id}`,
    ],
    ['Fix a dead-lettered message, and send it again:', 'dlq list', '/dead-letters'],
  ];
  return [
    'Three things to try:',
    ...tasks.flatMap(([task, args, path], index) => [
      `${index + 1}. ${task}`,
      `   ${command} ${args}`,
      ...(page === undefined ? [] : [`   ${page.replace('#', `${path}#`)}`]),
    ]),
  ];
}

function directoryLines(directory: RunResult['directory']): string[] {
  if (directory === undefined) return [];
  const { url, tryCommand } = directory;
  const lines = ['', `directory   ${url}, read every 15 seconds; changes: docs/directory-simulator.md`];
  return tryCommand === undefined
    ? lines
    : [...lines, 'To see a change, remove a member from a group:', tryCommand];
}

/** A path outside the current folder is shown whole, so that it is true in every folder. */
function shown(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' || fromHere.startsWith('..') ? resolve(path) : fromHere;
}
