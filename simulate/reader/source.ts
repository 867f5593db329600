import type { Dispatcher } from 'undici';
import { answerOf } from '../../directory-simulator/engine/answer.ts';
import { applyChange } from '../../directory-simulator/engine/apply-change.ts';
import { Change } from '../../directory-simulator/engine/changes.ts';
import { Answer, DirectoryError, type Endpoint } from '../../directory-simulator/engine/dialect.ts';
import { createPageTokens } from '../../directory-simulator/engine/page-tokens.ts';
import type { Simulation } from '../../directory-simulator/engine/simulation.ts';
import { directoryOf, parseWorld } from '../../directory-simulator/engine/world.ts';
import { ApiError } from '../../local/platform/errors.ts';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import type { Directory } from '../../shared/directory/ports.ts';
import type { DirectoryWorld } from '../../shared/directory/vendors/exchange.ts';
import type { Random } from '../random.ts';
import type { RunLog } from '../run-log.ts';
import type { SourceAction, SourceSpec } from '../simulation-run.ts';
import type { Worker } from '../worker.ts';
import { type Asked, createDistortion } from './distortion.ts';
import type { DirectoryFault } from './faults.ts';
import { BASE_URL } from './vendor.ts';
import { sourceVendorOf } from './vendors.ts';

interface SourceOptions extends SourceSpec {
  readonly seed: number;
  readonly nowMs: () => number;
  readonly random: Random;
  readonly runLog: RunLog;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export type SimulatedSource = ReturnType<typeof createSource>;

/** Creates the simulator of a vendor's directory with the faults of the run, without a server. */
export function createSource({ setting, world, difficulty, seed, nowMs, random, runLog }: SourceOptions) {
  const directory = directoryOf(parseWorld(world));
  const vendor = sourceVendorOf(setting.kind);
  let settings = difficulty;
  const simulation: Simulation = {
    directory: () => directory,
    settings: () => settings,
    clock: nowMs,
    random: (purpose) => seededRandom(`${seed}/${purpose}`),
    pageTokens: createPageTokens(),
    wrongCounts: new Map(),
  };
  const dialect = vendor.dialect()(simulation);
  const routes = dialect.endpoints.map((endpoint) => ({ endpoint, pattern: patternOf(endpoint) }));
  const control = (name: string, body: unknown = {}) =>
    dialect.controls.find((one) => one.name === name)?.handle(body);
  const distortion = createDistortion({ vendor, nowMs, random, fired: runLog.fired });
  const takenActive = (fault: DirectoryFault) => {
    const spell = distortion.active(fault);
    if (spell !== undefined) runLog.fired(`directoryFault:${fault}`);
    return spell;
  };
  let requests = 0;
  let rights = '';

  /** If the active faults require it, ends tokens and changes the permissions of the reader. */
  const prepare = ({ question, cursor }: Asked): void => {
    if (cursor !== undefined && distortion.strikes('page_tokens_end')) simulation.pageTokens.expireAll();
    if (question !== 'token' && distortion.strikes('token_ends')) control('access-tokens/expire');
    if (question === 'changes' && distortion.strikes('delta_ends')) {
      control('delta-tokens/expire', { error: random.pick(['syncStateNotFound', 'resyncRequired']) });
    }
    const body = vendor.rights?.bodyOf(takenActive);
    const text = JSON.stringify(body) ?? '';
    if (text === rights) return;
    rights = text;
    control(vendor.rights?.control ?? '', body);
  };
  const replyTo = (
    endpoint: Endpoint,
    asked: Asked,
    given: Omit<Parameters<typeof answerOf>[2], 'requestNumber'>,
  ): Reply => {
    requests += 1;
    prepare(asked);
    const refusal = distortion.refusalOf(asked);
    if (refusal === 'lost') throw Object.assign(new Error('simulated'), { code: 'ECONNRESET' });
    const headersFor = (status: number) => dialect.answerHeaders?.(endpoint, status) ?? {};
    try {
      if (refusal !== undefined) throw dialect.errors[refusal.error]?.();
      const answered = answerOf({ dialect, simulation }, endpoint, { ...given, requestNumber: requests });
      const content = answered instanceof Answer ? answered : { body: answered, headers: {} };
      const { text, headers } = distortion.distort(asked, content);
      return { status: 200, text, headers: { ...headersFor(200), ...headers } };
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error;
      if (refusal === undefined) runLog.fired(`directory:answers_${error.status}`);
      const { status, body, headers } = error;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return { status, text, headers: { ...headersFor(status), ...headers } };
    }
  };

  const answer = async (worker: Worker, { method, path, headers, body }: Sent): Promise<Reply> => {
    const url = new URL(path, BASE_URL);
    for (const { endpoint, pattern } of routes) {
      const found = endpoint.method === method ? pattern.exec(url.pathname) : null;
      if (found === null) continue;
      const question = vendor.questionOf(endpoint.operation);
      await worker.effect(`directory.${question}`);
      const named = Object.entries(found.groups ?? {}).map(
        ([name, value = '']) => [name, decodeURIComponent(value)] as const,
      );
      const view = directory.viewAt(nowMs());
      const group = named.map(([, key]) => view.group(key)?.id).find((id) => id !== undefined);
      const form = body == null ? undefined : Object.fromEntries(new URLSearchParams(body));
      const asked = { question, group, cursor: vendor.cursorOf(url) };
      const params = Object.fromEntries(named);
      const query = Object.fromEntries(url.searchParams);
      return replyTo(endpoint, asked, { params, query, body: form, headers, url: url.href });
    }
    throw new TypeError(`the simulated directory has no method ${method} ${url.pathname}`);
  };

  /** Returns whether the user or group exists in the directory. */
  const isThere = (key: string): boolean => {
    const view = directory.viewAt(nowMs());
    return key.includes('@') || view.user(key) !== undefined || view.group(key) !== undefined;
  };

  return {
    /** The directory with its history. Reads of this value have no lag. */
    directory,
    difficulty,
    open(worker: Worker, own: Pick<DirectoryWorld, 'clock' | 'random' | 'sleep'>): Promise<Directory> {
      const request = async (sent: Sent) => {
        const { status, text, headers } = await answer(worker, sent);
        const date = new Date(nowMs()).toUTCString();
        return { statusCode: status, headers: { ...headers, date }, body: [Buffer.from(text)] };
      };
      const webIdentity = async (): Promise<string> => {
        throw new TypeError('the reader called the simulated directory without the role of the function');
      };
      // The reader calls only this method of a dispatcher.
      const asked = { ...own, dispatcher: { request } as unknown as Dispatcher, webIdentity };
      return vendor.open(setting, control, asked);
    },
    /** Changes the directory, or starts a fault. */
    happen(action: SourceAction): void {
      if (action.kind === 'directoryFault') {
        distortion.begin(action);
        return;
      }
      if ('member' in action && !isThere(action.member)) return;
      const change = Change.parse(action);
      if (change.kind === 'addGroup') {
        change.group.members = change.group.members.filter(({ member }) => isThere(member));
      }
      try {
        applyChange(directory, nowMs(), change, dialect.changeRules);
        runLog.fired(`source:${action.kind}`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    },
    isFaulty: distortion.isOn,
    /** Ends all faults. Traits of the directory, such as lag and the order of pages, stay. */
    calm() {
      distortion.calm();
      settings = { ...settings, failures: 0 };
    },
  };
}

const patternOf = ({ path }: Endpoint): RegExp =>
  new RegExp(`^${path.replaceAll(/[.()]/g, '\\$&').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
