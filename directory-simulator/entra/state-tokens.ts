import * as z from 'zod';

/** The resources whose changes can be listed. */
export type Tracked = 'users' | 'groups';

const Round = z.strictObject({
  resource: z.enum(['users', 'groups']),
  /** The list contains the changes after this time. null means the whole directory. */
  fromMs: z.number().nullable(),
  /** The list shows the directory at this time. */
  toMs: z.number(),
  select: z.array(z.string()).nullable(),
  ids: z.array(z.string()).nullable(),
});
/** One round of change tracking, which ends with a link to the next round. */
export type Round = z.infer<typeof Round>;

const StateToken = z.strictObject({
  kind: z.enum(['skip', 'delta']),
  round: Round,
  page: z.string().optional(),
  issuedAtMs: z.number(),
  generation: z.int(),
});
export type StateToken = z.infer<typeof StateToken>;

/** Returns the text of a token, which clients must not interpret. */
export const encodeToken = (token: StateToken) => Buffer.from(JSON.stringify(token)).toString('base64url');

export function decodeToken(text: string): StateToken | undefined {
  try {
    return StateToken.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
