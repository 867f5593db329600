import { isDeepStrictEqual } from 'node:util';
import { createPlatformClient } from '../../../shared/platform/client.ts';
import { staticBearer } from '../../../shared/platform/credential.ts';
import { CASES_NOW_MS, CONTRACT_CASES, type ContractCase } from './contract-cases.ts';
import { changeAt, hasAt } from './field-paths.ts';
import { type Answer, type Seen, startScriptedPlatform } from './scripted-platform.ts';
import { SPECIFICATION, type SpecifiedEndpoint } from './specification.ts';

interface Outcome {
  readonly result: unknown;
  readonly seen: readonly Seen[];
}

/** An endpoint, parameter or field, for example `GET /me: answer id`, and the titles of the cases that use it. */
export interface CoveredItem {
  readonly item: string;
  readonly cases: readonly string[];
}

export async function runCase(
  { endpoint, answer, run }: ContractCase,
  body: unknown = answer,
): Promise<Outcome> {
  const isFeed = endpoint.endsWith('/company_activity');
  const platform = await startScriptedPlatform((_, index): Answer => {
    return { body: index === 0 || isFeed || !Array.isArray(answer) ? body : [] };
  });
  const client = createPlatformClient({
    baseUrl: platform.url,
    credential: staticBearer('test-token'),
    clock: () => CASES_NOW_MS,
    random: () => 0,
    sleep: async () => {},
  });
  try {
    const result = await run(client).catch((error: unknown) => String(error));
    return { result, seen: platform.seen };
  } finally {
    await platform.close();
    await client.close();
  }
}

/**
 * Measures which parts of the specification the cases cover. A parameter is covered if a request contained it. A field
 * is covered if the client's result changes when the field in the answer changes.
 */
export async function measureCoverage(): Promise<CoveredItem[]> {
  const outcomes = await Promise.all(
    CONTRACT_CASES.map(async (one) => ({ one, outcome: await runCase(one) })),
  );
  const items: CoveredItem[] = [];
  for (const specified of SPECIFICATION) {
    const [method = '', template = ''] = specified.endpoint.split(' ');
    const path = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`);
    const cases = outcomes
      .filter(({ one }) => one.endpoint === specified.endpoint)
      .map(({ one, outcome }) => ({
        one,
        result: outcome.result,
        seen: outcome.seen.filter((request) => request.method === method && path.test(request.path)),
      }));
    items.push(...(await itemsOf(specified, cases)));
  }
  return items;
}

type Exercised = { readonly one: ContractCase } & Outcome;

async function itemsOf(specified: SpecifiedEndpoint, cases: readonly Exercised[]): Promise<CoveredItem[]> {
  const { endpoint, query, body, answer } = specified;
  const item = (what: string, using: readonly Exercised[]): CoveredItem => ({
    item: `${endpoint}: ${what}`,
    cases: using.map(({ one }) => one.title),
  });
  const called = cases.filter(({ seen }) => seen.length > 0);
  const sending = (has: (request: Seen) => boolean) => cases.filter(({ seen }) => seen.some(has));
  const withQuery = (name: string) => sending((one) => (one.query[name] ?? '') !== '');
  const withField = (name: string) => sending((one) => hasAt(jsonOf(one.text), name));
  return [
    item('called', called),
    ...query.map((name) => item(`query ${name}`, withQuery(name))),
    ...body.map((name) => item(`body ${name}`, withField(name))),
    ...(await Promise.all(answer.map(async (name) => item(`answer ${name}`, await readersOf(name, cases))))),
  ];
}

async function readersOf(field: string, cases: readonly Exercised[]): Promise<Exercised[]> {
  const readers: Exercised[] = [];
  for (const exercised of cases) {
    const changed = changeAt(exercised.one.answer, field);
    if (changed === undefined) continue;
    const { result } = await runCase(exercised.one, changed);
    if (!isDeepStrictEqual(result, exercised.result)) readers.push(exercised);
  }
  return readers;
}

function jsonOf(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}
