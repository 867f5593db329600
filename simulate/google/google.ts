import { generateKeyPairSync, sign } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { answerOf } from '../../directory-simulator/engine/answer.ts';
import { applyChange } from '../../directory-simulator/engine/apply-change.ts';
import { Change } from '../../directory-simulator/engine/changes.ts';
import { DirectoryError, type Endpoint } from '../../directory-simulator/engine/dialect.ts';
import { createPageTokens } from '../../directory-simulator/engine/page-tokens.ts';
import type { Simulation } from '../../directory-simulator/engine/simulation.ts';
import { directoryOf, parseWorld } from '../../directory-simulator/engine/world.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import { ApiError } from '../../local/platform/errors.ts';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import type { DirectoryWorld } from '../../shared/directory/exchange.ts';
import type { Claims, Credential } from '../../shared/directory/google/credential.ts';
import { createGoogleDirectory } from '../../shared/directory/google/directory.ts';
import type { ServiceAccountKey } from '../../shared/directory/google/schemas.ts';
import type { Directory } from '../../shared/sync/ports/directory.ts';
import type { Random } from '../random.ts';
import type { RunLog } from '../run-log.ts';
import type { GoogleAction, GoogleSpec } from '../simulation-run.ts';
import type { Worker } from '../worker.ts';
import { createDistortion, type Question, type Reply } from './distortion.ts';

export const ADMINISTRATOR = 'admin@d.test';
/** The address of the simulator. The token endpoint accepts assertions for any address of this machine. */
const BASE_URL = 'http://127.0.0.1';

export interface GoogleOptions extends Pick<GoogleSpec, 'world' | 'difficulty'> {
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

export type SimulatedGoogle = ReturnType<typeof createSimulatedGoogle>;

/**
 * Creates the Google simulator (`directory-simulator/`) without a server, in simulated time, with the faults of the
 * run.
 */
export function createSimulatedGoogle({ world, difficulty, seed, nowMs, random, runLog }: GoogleOptions) {
  const directory = directoryOf(parseWorld(world));
  let settings = difficulty;
  const simulation: Simulation = {
    directory: () => directory,
    settings: () => settings,
    clock: nowMs,
    random: (purpose) => seededRandom(`${seed}/${purpose}`),
    pageTokens: createPageTokens(),
    wrongCounts: new Map(),
  };
  const dialect = google({ customerKey: customerKey() })(simulation);
  const routes = dialect.endpoints.map((endpoint) => ({ endpoint, pattern: patternOf(endpoint) }));
  const control = (name: string, body: unknown = {}) =>
    dialect.controls.find((one) => one.name === name)?.handle(body);
  const key = control('service-account-key', { url: BASE_URL }) as ServiceAccountKey;
  const distortion = createDistortion({ nowMs, random, fired: runLog.fired });
  let requests = 0;

  const endTokens = ({ operation, pageToken }: Question): void => {
    if (pageToken !== undefined && distortion.strikes('page_tokens_end')) simulation.pageTokens.expireAll();
    if (operation !== 'oauth2.token' && distortion.strikes('token_ends')) control('access-tokens/expire');
  };
  const replyTo = (
    endpoint: Endpoint,
    question: Question,
    asked: Omit<Parameters<typeof answerOf>[2], 'requestNumber'>,
  ): Reply => {
    requests += 1;
    endTokens(question);
    const refusal = distortion.refusalOf(question);
    if (refusal === 'lost') throw Object.assign(new Error('simulated'), { code: 'ECONNRESET' });
    try {
      if (refusal !== undefined) throw dialect.errors[refusal]?.();
      return distortion.distort(
        question,
        answerOf({ dialect, simulation }, endpoint, { ...asked, requestNumber: requests }),
      );
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error;
      if (refusal === undefined) runLog.fired(`directory:answers_${error.status}`);
      const { status, body } = error;
      return { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
    }
  };

  const answer = async (worker: Worker, { method, path, headers, body }: Sent): Promise<Reply> => {
    const { pathname, searchParams } = new URL(path, BASE_URL);
    for (const { endpoint, pattern } of routes) {
      const found = endpoint.method === method ? pattern.exec(pathname) : null;
      if (found === null) continue;
      const { operation } = endpoint;
      await worker.effect(operation);
      const given = Object.entries(found.groups ?? {}).map(
        ([name, value = '']) => [name, decodeURIComponent(value)] as const,
      );
      const named = Object.fromEntries(given);
      const query = Object.fromEntries(searchParams);
      const group = directory.viewAt(nowMs()).group(named['groupKey'] ?? '')?.id;
      const form = body == null ? undefined : Object.fromEntries(new URLSearchParams(body));
      const question = { operation, group, pageToken: query['pageToken'] };
      return replyTo(endpoint, question, { params: named, query, body: form, headers });
    }
    throw new TypeError(`the simulated directory has no method ${method} ${pathname}`);
  };

  /**
   * Returns whether the user or group exists in the directory. The caller checks this, because the simulator takes an
   * unknown id for a member of another company.
   */
  const isThere = (key: string): boolean => {
    const view = directory.viewAt(nowMs());
    return key.includes('@') || view.user(key) !== undefined || view.group(key) !== undefined;
  };

  return {
    /** The directory with its history. It has no lag. */
    directory,
    difficulty,
    /** Returns the directory that one worker reads. */
    open(worker: Worker, own: Pick<DirectoryWorld, 'clock' | 'random' | 'sleep'>): Directory {
      const request = async (sent: Sent) => {
        const { status, text } = await answer(worker, sent);
        const date = new Date(nowMs()).toUTCString();
        return { statusCode: status, headers: { date }, body: [Buffer.from(text)] };
      };
      const webIdentity = async (): Promise<string> => {
        throw new TypeError('the simulated directory is read with a key');
      };
      // The reader calls only this method of a dispatcher.
      const asked = { ...own, dispatcher: { request } as unknown as Dispatcher, webIdentity };
      const account = { credential: credentialOf(key), administrator: ADMINISTRATOR, baseUrl: BASE_URL };
      return createGoogleDirectory(account, asked);
    },
    /**
     * Changes the directory, or starts a fault. A change has no effect if its user or group does not exist, which can
     * happen in a reduced run.
     */
    happen(action: GoogleAction): void {
      if (action.kind === 'directoryFault') {
        distortion.begin(action);
        return;
      }
      if ('member' in action && !isThere(action.member)) return;
      try {
        applyChange(directory, nowMs(), Change.parse(action));
        runLog.fired(`google:${action.kind}`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    },
    isFaulty: distortion.isOn,
    /** Ends all faults. The lag and the order of pages stay. */
    calm() {
      distortion.calm();
      settings = { ...settings, failures: 0 };
    },
  };
}

const patternOf = ({ path }: Endpoint): RegExp =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);

/** Signs in the main thread. Another thread would end at a random time, so the run could not be repeated. */
const credentialOf = ({ client_email, private_key, private_key_id }: ServiceAccountKey): Credential => ({
  account: client_email,
  async sign(claims: Claims) {
    const parts = [{ alg: 'RS256', typ: 'JWT', kid: private_key_id }, claims];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), private_key).toString('base64url')}`;
  },
});

let pem: string | undefined;

/** Returns one key for all runs of a process, because its creation is slow. No result of a run depends on the key. */
function customerKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 1_024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return pem;
}
