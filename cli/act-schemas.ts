import * as z from 'zod';
import { CredentialReport, count, instant, nullable, text } from '../shared/contract/answers.ts';
import { Finding } from '../shared/contract/contract-report.ts';

/*
 * What the commands print that change something, and those of connections and of SCIM: see schemas.ts.
 */

const Decided = z.object({
  group: text,
  outcome: z.enum(['decided', 'no_hold', 'changed']),
  digest: text.describe('Of the set of removals that was decided on.'),
});

const Settings = z.record(text, z.unknown()).describe('Every setting, defaults included.');

const Token = z.object({
  prefix: text,
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: instant,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
  lastUsedAt: nullable(instant).describe('To the hour.'),
});

export const ACT_SCHEMAS = {
  'connections show': z.object({
    name: text,
    company: text,
    observing: z.boolean(),
    gate: z.object({ state: text, reason: nullable(text), since: nullable(instant) }),
    lastGood: nullable(instant),
    credential: CredentialReport,
    contract: nullable(z.object({ at: instant, findings: z.array(Finding) })).describe('What probe found.'),
    settings: Settings,
  }),
  'connections set': z.object({
    changed: z.array(z.object({ key: text, before: text, after: text })).describe('Values as JSON.'),
    replanned: count.describe('Groups that are looked at again.'),
  }),
  'connections remove': z.object({ removed: text, secretRemoved: z.boolean() }),
  probe: z.object({
    connection: text,
    findings: z.array(Finding),
    kept: z.boolean().describe('Holds from now on; not so where the version of a PATCH stays unknown.'),
    stopped: nullable(text).describe('Why not all was tried.'),
    left: z.array(text).describe('Groups that could not be deleted: ids, or the name where none was told.'),
  }),
  'people refresh': z.object({
    connection: text,
    read: count,
    changed: count,
    woken: count.describe('Groups that are looked at again.'),
    asked: count.describe('Asked for by id, because the listing did not name them.'),
    gone: count,
  }),
  adopt: z.object({
    group: text,
    platformId: text,
    outcome: z.enum(['adopted', 'not_in_directory', 'linked', 'owned', 'not_on_platform', 'busy']),
  }),
  release: z.object({ group: text, released: z.boolean() }),
  rebind: z.object({
    member: text,
    role: text,
    outcome: z.enum(['rebound', 'unknown_person']),
    groups: z.array(text),
  }),
  forget: z.object({
    member: text,
    forgotten: z.boolean(),
    attributes: z.array(text).describe('Names of what was erased.'),
  }),
  pause: z.object({ paused: text.describe('The group, or the connection.'), reason: nullable(text) }),
  resume: z.object({
    resumed: text.describe('The group, or the connection.'),
    wasPaused: z.boolean(),
    backlog: nullable(count).describe('Groups that wait; only of a connection.'),
  }),
  'holds approve': Decided,
  'holds reject': Decided,
  'dlq edit': z.object({ id: text, sent: z.boolean() }),
  'dlq discard': z.object({ discarded: count, missing: count }),
  'scim token create': z.object({
    token: text.describe('Shown this once.'),
    prefix: text,
    connection: text,
    expiresAt: nullable(instant),
    url: nullable(text).describe('What an identity provider asks for; null where it is not known.'),
  }),
  'scim token list': z.object({ tokens: z.array(Token) }),
  'scim token revoke': z.object({ prefix: text, revoked: z.boolean() }),
} as const satisfies Record<string, z.ZodType>;
