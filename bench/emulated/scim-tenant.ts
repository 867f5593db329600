import * as z from 'zod';

/** An identity provider with its own users and groups, as Entra ID and Okta ask and change them. */
export interface Tenant {
  /** @throws Error where the answer is not a 2xx */
  readonly send: (method: string, path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>;
  readonly prepare: () => Promise<void>;
  /** The request number n. */
  readonly next: (n: number) => Promise<void>;
  /** @throws Error where the server shows anything that this tenant did not make */
  readonly check: () => Promise<void>;
}

const USERS = 50;
const GROUPS = 5;
const Resource = z.looseObject({ id: z.string() });
const List = z.object({
  totalResults: z.number(),
  Resources: z.array(z.looseObject({ id: z.string(), externalId: z.string().optional() })),
});

export function createTenant(
  name: string,
  { url, token }: { readonly url: string; readonly token: string },
): Tenant {
  const users: string[] = [];
  const groups: string[] = [];
  const authorization = `Bearer ${token}`;

  const send: Tenant['send'] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path.split('?')[0]}: ${response.status}`);
    return text === '' ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  };
  const make = async (path: string, body: object) => Resource.parse(await send('POST', path, body)).id;
  const pick = (from: readonly string[], n: number) => from[n % from.length] ?? '';
  const addUser = (n: number) =>
    make('/Users', { userName: `user-${n}@bench.test`, externalId: `${name}-${n}`, active: true });
  /** Both tenants have the same names: whatever is mixed up, shows another external id. */
  const match = async (path: string) => {
    const { totalResults, Resources } = List.parse(await send('GET', path));
    if (totalResults !== 1 || !Resources[0]?.externalId?.startsWith(`${name}-`)) {
      throw new Error(`${name}: expected one resource of its own, got ${totalResults}`);
    }
  };

  return {
    send,
    async prepare() {
      for (let n = 0; n < USERS; n += 1) users.push(await addUser(n));
      for (let n = 0; n < GROUPS; n += 1) {
        groups.push(await make('/Groups', { displayName: `Group ${n}`, externalId: `${name}-g${n}` }));
      }
    },
    async next(n) {
      const group = `/Groups/${pick(groups, n)}`;
      const value = pick(users, n);
      const kinds: readonly (() => Promise<unknown>)[] = [
        () => match(`/Users?filter=${encodeURIComponent(`userName eq "user-${n % USERS}@bench.test"`)}`),
        () =>
          send('PATCH', group, {
            Operations: [{ op: 'Add', path: 'members', value: [{ value, $ref: null }] }],
          }),
        () => send('GET', `${group}?excludedAttributes=members`),
        () => send('PATCH', group, { Operations: [{ op: 'remove', path: `members[value eq "${value}"]` }] }),
        () =>
          match(
            `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "Group ${n % GROUPS}"`)}`,
          ),
        () =>
          send('PATCH', `/Users/${value}`, {
            Operations: [{ op: 'Replace', path: 'active', value: n % 20 < 10 ? 'False' : 'True' }],
          }),
        async () => users.push(await addUser(USERS + n)),
        () => send('GET', `/Users/${value}`),
        () => send('GET', '/Users?startIndex=1&count=2'),
        () => send('GET', group),
      ];
      await kinds[n % kinds.length]?.();
    },
    async check() {
      for (let startIndex = 1; ; ) {
        const { Resources } = List.parse(await send('GET', `/Users?startIndex=${startIndex}&count=500`));
        if (Resources.some(({ externalId }) => !externalId?.startsWith(`${name}-`))) {
          throw new Error(`${name}: the server showed it a user of another tenant`);
        }
        startIndex += Resources.length;
        if (Resources.length === 0) return;
      }
    },
  };
}
