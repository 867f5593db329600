import type { Part, PlatformQuestion } from '../../contract/invocation.ts';
import { type EmployeeField, fieldName } from '../../contract/match-rule.ts';
import {
  CredentialChecks,
  ListPart,
  PlatformReply,
  SentEmployee,
  SentGroup,
} from '../../contract/platform-reply.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ListedGroup, ObservedGroup } from '../../domain/view.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { type EmployeeRecord, type Platform, PlatformFailure } from '../../sync/ports/platform.ts';

/** The maximum number of attempts to read a list, because a list may change between two of its parts. */
const MAX_STARTS = 3;

type Ask = (question: PlatformQuestion) => Promise<unknown>;

/**
 * Returns platforms for commands. The function `reconcile` makes each call, because only functions have the credential.
 * Commands only read the platform.
 */
export function platformsThroughFunction({
  functions,
  clock,
}: Pick<ToolPorts, 'functions' | 'clock'>): Pick<ToolPorts, 'platforms' | 'checkCredential'> {
  const opened = new Map<ConnectionName, Platform>();
  const askFor =
    (connection: ConnectionName): Ask =>
    async (question) => {
      const event = { task: 'ask', connection, question };
      const replied = await functions.run('reconcile', event).catch((cause: Error) => {
        const message = `the function reconcile cannot be asked about the platform: ${cause.message}`;
        throw new PlatformFailure('unavailable', message, { cause });
      });
      const reply = PlatformReply.parse(replied);
      if (reply.failure !== undefined)
        throw new PlatformFailure(reply.failure.kind, reply.failure.message, reply.failure);
      return reply.answer;
    };
  return {
    platforms: {
      async open({ name }) {
        const platform = opened.get(name) ?? askedPlatform(askFor(name), clock);
        opened.set(name, platform);
        return platform;
      },
    },
    checkCredential: async ({ name }) => CredentialChecks.parse(await askFor(name)({ credential: 'check' })),
  };
}

function askedPlatform(ask: Ask, clock: () => number): Platform {
  let listing: { readonly atMs: number; readonly groups: Promise<readonly ListedGroup[]> } | undefined;
  let listed = 0;
  const readList = async () =>
    (await wholeList((groups) => ask({ groups }))).map(
      (group) => SentGroup.parse(group) as unknown as ListedGroup,
    );
  return {
    secretVersion: '',
    probe: refuse,
    activity: refuse,
    async *employees({ fields, states }) {
      const all = await wholeList((employees) =>
        ask({ employees, fields: [...fields], states: [...states] }),
      );
      yield all.map((one) => recordOf(one, fields));
    },
    async employee(role, fields) {
      const found = await ask({ employee: role, fields: [...fields] });
      return found === null ? undefined : recordOf(found, fields);
    },
    groups: {
      each: async (visit) => (await readList()).forEach(visit),
      async list(maxAgeMs) {
        if (listing === undefined || clock() - listing.atMs > maxAgeMs || maxAgeMs === 0)
          listing = { atMs: clock(), groups: readList() };
        const current = listing;
        const all = await current.groups.catch((error: unknown) => {
          if (listing === current) listing = undefined;
          throw error;
        });
        listed = all.length;
        return all;
      },
      countListed: () => listed,
      forgetList: () => {
        listing = undefined;
      },
      async get(id) {
        const found = await ask({ group: id });
        return found === null ? undefined : (SentGroup.parse(found) as unknown as ObservedGroup);
      },
      create: refuse,
      patch: refuse,
      put: refuse,
      delete: refuse,
    },
  };
}

function refuse(): never {
  throw new Error('only functions write to the platform or read its activity');
}

async function wholeList(ask: (part: Part) => Promise<unknown>): Promise<readonly unknown[]> {
  for (let starts = 0; starts < MAX_STARTS; starts += 1) {
    const all = await unchangedList(ask);
    if (all !== undefined) return all;
  }
  throw new PlatformFailure(
    'unavailable',
    `a list of the platform changed ${MAX_STARTS} times while it was read`,
    {},
  );
}

/** @returns undefined if the list changed between two parts */
async function unchangedList(ask: (part: Part) => Promise<unknown>): Promise<readonly unknown[] | undefined> {
  const all: unknown[] = [];
  let digest: string | undefined;
  for (let from: number | undefined = 0; from !== undefined; ) {
    const part: ListPart = ListPart.parse(await ask({ from }));
    if (digest !== undefined && part.digest !== digest) return undefined;
    digest = part.digest;
    all.push(...part.items);
    from = part.next;
  }
  return all;
}

function recordOf(found: unknown, fields: readonly EmployeeField[]): EmployeeRecord {
  const { values, ...employee } = SentEmployee.parse(found);
  const known = fields.map((field) => [field, values[fieldName(field)]] as const);
  const shown = known.filter((pair): pair is [EmployeeField, string | null] => pair[1] !== undefined);
  return { ...employee, fields: new Map(shown) };
}
