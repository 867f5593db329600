import { fieldName, parseMatchRule } from '../contract/match-rule.ts';
import { VERSION } from '../contract/version.ts';
import { versionToken } from '../domain/ids.ts';
import { type Applicant, type Applicants, failureIn, type StoredApplicants } from '../sync/ports/platform.ts';
import { type Credential, staticBearer } from './credential.ts';
import { type Calling, failureOf, PlatformError } from './errors.ts';
import { createGroupClient } from './group-client.ts';
import { credentialFor, type PlatformsOptions } from './oauth-secret.ts';
import { employeePages } from './records.ts';

const TIMEOUT_MS = 10_000;
/** The id of a group that does not exist on any platform. */
const NO_GROUP = 'groupsync-permission-check';
/** Failures which prove that the platform did not refuse the call for a missing scope. */
const ANSWERS: ReadonlySet<string> = new Set(['not_found', 'rejected']);
/** The time limit of a call with all its attempts. It is short, because an operator waits for the result. */
const PATIENCE_MS = 15_000;

type StoredOptions = Omit<PlatformsOptions, 'onAttempt'>;
type ApplicantsOptions = Omit<StoredOptions, 'secrets' | 'leases'>;

/** Creates the platform for a new credential, which is tested before a connection uses it. */
export function createApplicants(options: ApplicantsOptions): Applicants {
  return { present: (baseUrl, token) => applicant(baseUrl, staticBearer(token), options) };
}

export function createStoredApplicants(options: StoredOptions): StoredApplicants {
  return {
    async stored(name, baseUrl) {
      const { value } = await options.secrets.read(name);
      return applicant(baseUrl, credentialFor(name, value, options), options);
    },
  };
}

function applicant(baseUrl: string, credential: Credential, options: ApplicantsOptions): Applicant {
  const client = createGroupClient({
    ...options,
    baseUrl,
    credential,
    timeoutMs: TIMEOUT_MS,
    patienceMs: PATIENCE_MS,
    version: VERSION,
  });
  const call: Calling = (run) =>
    run().catch((error: unknown) => {
      throw error instanceof PlatformError ? failureOf(error, '') : error;
    });
  return {
    me: () => call(() => client.me()),
    markInstalled: () => call(() => client.markInstalled()).then(() => {}),
    groups: async () =>
      (await call(() => client.groups.list())).map((group) => ({ name: '', users: [], ...group })),
    async refusesWrite(scope) {
      const field = scope === 'groups' ? { name: NO_GROUP } : { users: [] };
      const change = { ...field, version: versionToken('0') };
      return isForbidden(() => call(() => client.groups.patch(NO_GROUP, change)));
    },
    hidesGroups: () => isForbidden(() => call(() => client.groups.get(NO_GROUP))),
    async *employees(names, states) {
      const fields = names.flatMap((name) => parseMatchRule(`id=${name}`)?.employeeField ?? []);
      for await (const page of employeePages(client, { fields, states }, call)) {
        yield page.map(({ role, state = null, fields: values }) => {
          const asked = [...values].map(([field, value]) => [fieldName(field), value] as const);
          return new Map([['id', role], ['roleState', state], ...asked]);
        });
      }
    },
  };
}

/** @throws PlatformFailure if the response does not show whether the permission exists */
async function isForbidden(ask: () => Promise<unknown>): Promise<boolean> {
  const failure = await failureIn(ask);
  if (failure === undefined || ANSWERS.has(failure.kind)) return false;
  if (failure.kind === 'forbidden') return true;
  throw failure;
}
