import * as z from 'zod';
import { ConnectionText, Instant, Sequence } from '../events/fields.ts';
import { MembersField } from '../events/member.ts';
import { attributesOfDisplay } from './member-text.ts';

export const PATCH_OP_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** Schema URNs are compared without regard to case (RFC 7643 section 2.1), and those of others beside ours are fine. */
export function namesSchema(value: Readonly<Record<string, unknown>>, urn: string): boolean {
  const { schemas } = value;
  return (
    Array.isArray(schemas) &&
    schemas.some((schema) => typeof schema === 'string' && schema.toLowerCase() === urn.toLowerCase())
  );
}

/** What a SCIM-shaped message may say of its place in the order; what it does not say the delivery does. */
export const scimPlace = () => ({
  time: Instant.nullish().transform((time) => time ?? undefined),
  sequence: Sequence.nullish().transform((sequence) => sequence ?? undefined),
  connection: ConnectionText.nullish().transform((connection) => connection ?? undefined),
});

/** Members as SCIM writes them: a list or a single one, each `{value, display?, …}` or, by some clients, a bare id. */
export const ScimMembers = z.preprocess(
  (raw) => (raw == null ? raw : (Array.isArray(raw) ? raw : [raw]).map(asNativeMember)),
  MembersField,
);

function asNativeMember(raw: unknown): unknown {
  if (typeof raw === 'string') return { id: raw };
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const { value, display, $ref: _link, ...others } = raw as Readonly<Record<string, unknown>>;
  const named = typeof display === 'string' && display !== '' ? attributesOfDisplay(display) : {};
  return { ...named, ...others, id: value };
}
