import type { GroupBody } from './rules.ts';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const PATH = /\/(?:platform\/api\/(\w+)(?:\/([^/?]+))?|oauth\/token)(?:\?(.*))?$/;

/** The kind and route of each request, by method and resource. With an id, the resource ends with a slash. */
const KINDS = {
  'GET groups': ['list', '/groups'],
  'POST groups': ['create', '/groups'],
  'GET groups/': ['get', '/groups/{id}'],
  'PUT groups/': ['put', '/groups/{id}'],
  'PATCH groups/': ['patch', '/groups/{id}'],
  'DELETE groups/': ['delete', '/groups/{id}'],
  'GET me': ['me', '/me'],
  'GET employees': ['employees', '/employees'],
  'GET employees/': ['employee', '/employees/{id}'],
  'GET company_activity': ['activity', '/company_activity'],
  'POST token': ['token', '/oauth/token'],
  unknown: ['unknown', 'unknown'],
} as const;
const WRITES: ReadonlySet<string> = new Set(['create', 'put', 'patch', 'delete']);

export type Request = ReturnType<typeof requestOf>;

/** Returns the request as the platform understands it. `id` is the id of the group or role in the path. */
export function requestOf({ method, path, body, headers = {} }: Sent) {
  const [, resource = 'token', segment, query = ''] = PATH.exec(path) ?? ['', 'unknown'];
  const isAll = resource === 'employees' && segment === 'include_terminated';
  const id = segment === undefined || isAll ? undefined : decodeURIComponent(segment);
  const key = `${method} ${resource}${id === undefined ? '' : '/'}`;
  const [kind, route] = KINDS[key in KINDS ? (key as keyof typeof KINDS) : 'unknown'];
  const isWrite = WRITES.has(kind);
  const bearer = (headers['authorization'] ?? '').slice('Bearer '.length);
  const token = kind === 'token' ? (new URLSearchParams(body ?? '').get('refresh_token') ?? '') : bearer;
  const fields: GroupBody & { readonly version?: string | number } =
    isWrite && typeof body === 'string' ? JSON.parse(body) : {};
  return { kind, method, route, id, query, body: fields, token, isWrite };
}
