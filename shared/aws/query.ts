import type { Sdk } from './sdk.ts';

const VERSIONS = { sns: '2010-03-31', cloudformation: '2010-05-15' } as const;

/** Returns the texts of all elements of an XML answer that have this name and contain no other element. */
type Answer = (element: string) => readonly string[];

/** Sends one request. @throws an error with the name and the message that AWS returned */
export type Query = (
  service: keyof typeof VERSIONS,
  fields: Readonly<Record<string, string>>,
) => Promise<Answer>;

/**
 * Returns a function that calls AWS services through the query protocol. groupsync needs only a few operations of these
 * services, so it uses the signer of an existing client instead of one more client per service.
 * @param endpoint the URL of an emulator of AWS; undefined: AWS itself
 */
export function createQuery(sdk: Sdk, endpoint: string | undefined): Query {
  return async (service, fields) => {
    const region = await sdk.region();
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const url = new URL(endpoint ?? `https://${service}.${region}.${suffix}`);
    const body = new URLSearchParams({ ...fields, Version: VERSIONS[service] }).toString();
    const sent = { 'content-type': 'application/x-www-form-urlencoded', host: url.host };
    const { protocol, hostname } = url;
    const unsigned = { method: 'POST', protocol, hostname, path: '/', query: {}, headers: sent, body };
    const signed = await (await sdk.signer(service)).sign(unsigned);
    const answer = await fetch(url, { method: 'POST', headers: signed.headers, body });
    const text = await answer.text();
    if (answer.ok) return (element) => valuesOf(text, element);
    const [name = `HTTP ${answer.status}`] = valuesOf(text, 'Code');
    throw Object.assign(new Error(valuesOf(text, 'Message')[0] ?? name), { name });
  };
}

const valuesOf = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) =>
    withoutEntities(text),
  );

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Decodes the entities of XML 1.0, sections 4.1 and 4.6. */
const withoutEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name ?? ''] ?? all;
  });
