import type { Caller, CallOptions } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import { CurrentUser, Installation } from '../schemas/current-user.ts';

const ME: Endpoint = { method: 'GET', path: '/platform/api/me' };
const MARK_INSTALLED: Endpoint = { method: 'POST', path: '/platform/api/mark_app_installed' };

/** Workforce Platform API, Current user and installation. */
export const currentUserResource = (call: Caller) => ({
  /** `GET /me`: id, workEmail and company (id) of the user that owns the token. */
  me: (options?: CallOptions) =>
    call({ endpoint: ME, decoding: { schema: CurrentUser, exact: true } }, options),
  /** `POST /mark_app_installed`, without a body and without scopes: `{ok: true}`. */
  markInstalled: (options?: CallOptions) =>
    call({ endpoint: MARK_INSTALLED, decoding: { schema: Installation, exact: true } }, options),
});
