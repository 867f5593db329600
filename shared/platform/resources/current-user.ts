import * as z from 'zod';
import type { Caller, CallOptions, Endpoint } from '../call.ts';
import { text } from '../schemas/field.ts';

/** Workforce Platform API, Current user. `company` is the company's id. */
const CurrentUser = z.lazy(() =>
  z.object({ id: z.string().min(1), workEmail: text, company: z.string().min(1) }),
);

/** Answer of the installation call. */
const Installation = z.lazy(() => z.object({ ok: z.literal(true) }));

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
