import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import {
  DEFAULT_CONNECTION,
  DEFAULT_PREFIX,
  ENVIRONMENT,
  readerQueueName,
} from '../shared/contract/names.ts';
import { DEFAULT_COALESCE_SECONDS, SCHEDULES } from '../shared/contract/topology.ts';
import { localSettings } from './connection.ts';
import { untilConverged } from './convergence.ts';
import { openDataFolder } from './data-folder.ts';
import { DAY_MS, playDay } from './demo/day.ts';
import { startSimulatedClock } from './demo/simulated-clock.ts';
import { openDirectory } from './directory/open-directory.ts';
import { worldOfEvents } from './directory/world-of-events.ts';
import { urlOfQueue } from './emulators/sqs.ts';
import type { EventLine } from './event-files.ts';
import { readInputs } from './inputs.ts';
import { holderOf, type LocalFile, onceFile, removeLocalFile, writeLocalFile } from './local-file.ts';
import { openPlatform } from './open-platform.ts';
import { playsDay, type StartOptions } from './options.ts';
import { commandFor, consoleLines, jsonDocument, readableReport } from './output.ts';
import type { LoadParts } from './parts.ts';
import { startProgress } from './progress.ts';
import { publish } from './publish.ts';
import { type Stack, type StackOptions, startStack } from './stack.ts';
import { UsageError } from './usage.ts';
import type { ManualWork } from './work.ts';

export interface RunDependencies {
  readonly loadParts: LoadParts;
  /** SIGTERM and Ctrl-C abort this signal. */
  readonly signal: AbortSignal;
  /** Redirects the handlers' standard output to a file. Returns a function that prints to the real standard output. */
  readonly takeOutput: (logPath: string) => { readonly print: (text: string) => void };
  readonly startConsole?: (
    localFile: string,
  ) => Promise<{ readonly url: string | undefined; readonly stop: () => void }>;
}

/**
 * Runs the local stack from start to stop.
 * @returns the exit code: with `--once`, 0 after convergence and 1 otherwise; without `--once`, 0 after a stop
 * @throws UsageError if the command line or a file cannot be used
 */
export async function runLocal(given: StartOptions, dependencies: RunDependencies): Promise<number> {
  const startedMs = Date.now();
  localSettings('http://127.0.0.1', given.setting);
  const options = { ...given, localFile: await freeLocalFile(given) };
  const closers: (() => unknown)[] = [];
  try {
    const data = options.data === undefined ? undefined : openDataFolder(options.data, startedMs);
    closers.push(() => data?.release());
    const isDemo = playsDay(options) && data?.isNew !== false;
    const clock = isDemo ? startSimulatedClock(startedMs - DAY_MS) : undefined;
    closers.push(() => clock?.end());
    const { world, events } = readInputs(options, data?.exampleEndMs ?? startedMs);
    const platform = await openPlatform({ world, dataFile: data?.platform, port: options.platformPort });
    closers.push(platform.close);
    const directory =
      options.directory && (await openDirectory(options.directory, worldOfEvents(events, Date.now())));
    closers.push(() => directory?.close());
    const { print } = dependencies.takeOutput(logPath(options.localFile));
    const output = { printLine: (line: string) => void process.stderr.write(`${line}\n`) };
    const isServing = options.console && !options.once && !options.json;
    let page: Awaited<ReturnType<NonNullable<RunDependencies['startConsole']>>> | undefined;
    const onListening = async (address: LocalFile) => {
      await checkUnused(options.localFile, platform.url);
      writeLocalFile(options.localFile, address);
      const remove = () => removeLocalFile(options.localFile, process.pid);
      closers.push(remove);
      // The file is also removed if the process exits before the stack has stopped.
      process.once('exit', remove);
      closers.push(() => process.off('exit', remove));
      page = isServing ? await dependencies.startConsole?.(options.localFile) : undefined;
      closers.push(() => page?.stop());
      if (page?.url !== undefined) print(`${consoleLines(page.url, options).join('\n')}\n\n`);
    };
    const beforePolling = async (work: ManualWork) => {
      if (clock === undefined) return;
      output.printLine('playing half a year and a day of the example company');
      await playDay({ ...work, platform: platform.url }, clock, startedMs - DAY_MS, dependencies.signal);
      clock.end();
    };
    const stack = await startStack({
      ...stackOptions(options),
      tables: data?.tables,
      secrets: data?.secrets,
      platform,
      directory,
      loadParts: dependencies.loadParts,
      onListening,
      beforePolling,
      onError: (message) => output.printLine(message),
      onNotification: (text) =>
        output.printLine(text.replaceAll('npx groupsync', commandFor(options.localFile))),
    });
    closers.push(stack.stop);
    const outcome = await converge(stack, {
      ...options,
      events: directory === undefined && !isDemo ? events : [],
      signal: dependencies.signal,
      output,
    });
    const result = { ...outcome, elapsedMs: Date.now() - startedMs, address: stack.address };
    if (options.once || outcome.converged)
      print(show({ ...result, page: page?.url, directory }, { ...options, isDemo }));
    if (options.once) return outcome.converged ? 0 : 1;
    if (!dependencies.signal.aborted) await once(dependencies.signal, 'abort');
    return 0;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Returns the path of a local file that no running stack uses, so that commands can still find each running stack. */
async function freeLocalFile({ once, localFile }: StartOptions): Promise<string> {
  if (!once) await checkUnused(localFile);
  const holder = once ? await holderOf(localFile) : undefined;
  if (holder === undefined) return localFile;
  const own = onceFile(dirname(localFile));
  process.stderr.write(`${localFile} belongs to the stack of process ${holder}; this run uses ${own}\n`);
  return own;
}

async function checkUnused(localFile: string, own?: string): Promise<void> {
  const holder = await holderOf(localFile, own);
  if (holder === undefined) return;
  const fix = 'stop it first, or use another file with --local-file';
  throw new UsageError(`${localFile}: in use by the stack of process ${holder}; ${fix}`);
}

/** Returns the path of the handlers' log file, next to the local file. All runs with `--once` share one log file. */
const logPath = (localFile: string): string =>
  join(dirname(localFile), `${basename(localFile, '.json').replace(/^once-\d+$/, 'once')}.log`);

const show = (
  result: Parameters<typeof jsonDocument>[0],
  options: StartOptions & { readonly isDemo: boolean },
): string =>
  options.json
    ? jsonDocument(result)
    : readableReport(result, { ...options, logPath: logPath(options.localFile) });

/** Publishes the events and waits until they are applied. With `--once`, the wait ends after `--timeout`. */
async function converge(
  stack: Stack,
  options: Pick<StartOptions, 'once' | 'timeout' | 'directory'> & {
    readonly events: readonly EventLine[];
    readonly signal: AbortSignal;
    /** Prints a line, above the progress bar if the bar is shown. */
    readonly output: { printLine: (line: string) => void };
  },
) {
  const { events, output } = options;
  const { eventsQueueUrl, applyQueueUrl, prefix } = stack.address;
  const readerQueueUrl = options.directory && urlOfQueue(eventsQueueUrl, readerQueueName(prefix));
  const deadline = AbortSignal.timeout(options.timeout * 1000);
  const progress = startProgress(process.stderr, events.length, Date.now);
  const printDirectly = output.printLine;
  output.printLine = progress.printLine;
  try {
    const { sent, refused } = await publish(stack.sqs, eventsQueueUrl, events);
    for (const { line, reason } of refused)
      output.printLine(`${line.file}:${line.line}: not published: ${reason}`);
    if (events.length > 0) output.printLine(`published ${sent} events`);
    return await untilConverged({
      countMessages: stack.countMessages,
      eventsQueueUrl,
      readerQueueUrl,
      applyQueueUrl,
      countGroups: () => stack.parts.countGroups(DEFAULT_CONNECTION),
      readGroups: () => stack.parts.readGroups(DEFAULT_CONNECTION),
      onBacklog: progress.show,
      onLastEvent: options.once ? stack.endWindows : undefined,
      signal: options.once ? AbortSignal.any([options.signal, deadline]) : options.signal,
    });
  } finally {
    progress.end();
    output.printLine = printDirectly;
  }
}

const stackOptions = (
  options: StartOptions,
): Pick<StackOptions, 'prefix' | 'coalesceSeconds' | 'ports' | 'settings' | 'everySeconds'> => ({
  prefix: process.env[ENVIRONMENT.prefix] ?? DEFAULT_PREFIX,
  coalesceSeconds: coalesceSeconds(process.env[ENVIRONMENT.coalesceSeconds], options),
  ports: { aws: options.awsPort, sqs: options.sqsPort },
  settings: options.setting,
  everySeconds: {
    people: options.peopleEvery,
    feed: options.reconcileEvery,
    sweep: options.sweepEvery,
    pump: options.pumpEvery,
    health: SCHEDULES.healthMinutes * 60,
  },
});

/** `shared/runtime/config.ts` has the same limit. */
const LONGEST_WINDOW_SECONDS = 898;

/**
 * The coalescing window with `--once`. A run ends open windows as soon as it has received all events. So a long window
 * delays nothing, and saves writes of groups that change several times.
 */
const ONCE_COALESCE_SECONDS = 30;

function coalesceSeconds(text: string | undefined, { once }: Pick<StartOptions, 'once'>): number {
  if (text === undefined || text === '') return once ? ONCE_COALESCE_SECONDS : DEFAULT_COALESCE_SECONDS;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= LONGEST_WINDOW_SECONDS) return value;
  throw new UsageError(
    `${ENVIRONMENT.coalesceSeconds}: expected whole seconds from 0 to ${LONGEST_WINDOW_SECONDS}, got ${text}`,
  );
}
