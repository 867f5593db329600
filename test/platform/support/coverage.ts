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

/** One endpoint, parameter or field, and the cases that use it. */
export interface CoveredItem {
  readonly area: string;
  readonly endpoint: string;
  readonly kind: 'endpoint' | 'path' | 'query' | 'body' | 'answer';
  readonly name: string;
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
  const { area, endpoint, query, body, answer } = specified;
  const where = (found: (exercised: Exercised) => boolean) => cases.filter(found).map(({ one }) => one.title);
  const item = (kind: CoveredItem['kind'], name: string, titles: readonly string[]): CoveredItem => ({
    area,
    endpoint,
    kind,
    name,
    cases: titles,
  });
  const called = where(({ seen }) => seen.length > 0);
  const ids = endpoint.match(/\{\w+\}/g) ?? [];
  return [
    item('endpoint', endpoint, called),
    ...ids.map((name) => item('path', name, called)),
    ...query.map((name) =>
      item(
        'query',
        name,
        where(({ seen }) => seen.some((one) => (one.query[name] ?? '') !== '')),
      ),
    ),
    ...body.map((name) =>
      item(
        'body',
        name,
        where(({ seen }) => seen.some((one) => hasAt(jsonOf(one.text), name))),
      ),
    ),
    ...(await Promise.all(answer.map(async (name) => item('answer', name, await readersOf(name, cases))))),
  ];
}

async function readersOf(field: string, cases: readonly Exercised[]): Promise<string[]> {
  const readers: string[] = [];
  for (const { one, result } of cases) {
    const changed = changeAt(one.answer, field);
    if (changed === undefined) continue;
    const outcome = await runCase(one, changed);
    if (!isDeepStrictEqual(outcome.result, result)) readers.push(one.title);
  }
  return readers;
}

function jsonOf(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}
