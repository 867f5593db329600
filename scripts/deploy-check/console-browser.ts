import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { httpEvent } from '../../local/console-login/http-event.ts';
import type { DeployedFunction } from './deployed-function.ts';

const Reply = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  cookies: z.array(z.string()).default([]),
  body: z.string(),
  isBase64Encoded: z.boolean(),
});

export interface Answer {
  readonly status: number;
  /** The address after all redirects. */
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

export interface Browser {
  /** Opens an address of the console or of the provider, and follows redirects. */
  open(url: string): Promise<Answer>;
  /** Opens an address, and signs in on the page of the provider. */
  signIn(url: string, account: string): Promise<Answer>;
  /** Sends a request as the page does: an action if there is a body, otherwise a query. */
  ask(path: string, body?: object): Promise<Answer>;
  /** The cookies by host and name. */
  readonly cookies: ReadonlyMap<string, Map<string, string>>;
}

const MAX_REDIRECTS = 10;

/** A browser without a window. Requests to the console reach its function as events of API Gateway. */
export function createBrowser(console: Pick<DeployedFunction, 'invoke'>, origin: string): Browser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: URL) => {
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    return jar;
  };

  async function send(url: URL, init: { method?: string; headers?: Record<string, string>; body?: string }) {
    const { method = 'GET', headers: given = {}, body } = init;
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { host: url.host, 'accept-encoding': 'gzip', ...(cookie && { cookie }), ...given };
    const target = `${url.pathname}${url.search}`;
    const response =
      url.origin === origin
        ? responseOf(await console.invoke(httpEvent({ method, target, headers, body })))
        : await fetch(url, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; (?:max-age=0|expires=Thu, 01 Jan 1970)/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  async function follow(start: URL, init: Parameters<typeof send>[1]): Promise<Answer> {
    let url = start;
    let response = await send(url, init);
    for (let redirects = 0; response.headers.has('location'); redirects += 1) {
      if (redirects === MAX_REDIRECTS) throw new Error(`expected at most ${MAX_REDIRECTS} redirects: ${url}`);
      url = new URL(response.headers.get('location') ?? '', url);
      response = await send(url, {});
    }
    return { status: response.status, url, headers: response.headers, text: await response.text() };
  }

  return {
    cookies: jars,
    open: (url) => follow(new URL(url, origin), {}),

    async signIn(url, account) {
      const form = await follow(new URL(url, origin), {});
      const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(form.text) ?? [];
      const prompt = /name="prompt" value="(\w+)"/.exec(form.text)?.[1] ?? '';
      return follow(new URL(action, form.url), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ prompt, login: account, password: 'any' }).toString(),
      });
    },

    ask(path, body) {
      const headers = { 'x-groupsync-token': '', 'sec-fetch-site': 'same-origin' };
      const url = new URL(path, origin);
      if (body === undefined) return follow(url, { headers });
      const json = { ...headers, origin, 'content-type': 'application/json' };
      return follow(url, { method: 'POST', headers: json, body: JSON.stringify(body) });
    },
  };
}

/** Converts the reply of a function to a response, as API Gateway does. */
function responseOf(reply: unknown): Response {
  const { statusCode, headers, cookies, body, isBase64Encoded } = Reply.parse(reply);
  const sent = new Headers(headers);
  for (const cookie of cookies) sent.append('set-cookie', cookie);
  const hasNoBody = statusCode === 204 || statusCode === 304;
  const content = isBase64Encoded ? gunzipSync(Buffer.from(body, 'base64')) : body;
  return new Response(hasNoBody ? null : content, { status: statusCode, headers: sent });
}
