import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

/** One secret with its versions. The emulator has only the stages AWSCURRENT and AWSPREVIOUS. */
export interface Secret {
  readonly name: string;
  readonly arn: string;
  readonly createdAtMs: number;
  readonly description: string | undefined;
  readonly versions: Map<string, { readonly text: string; readonly createdAtMs: number }>;
  current: string;
  previous: string | undefined;
  deletedAtMs: number | undefined;
}

const StoredVersion = z.object({ text: z.string(), createdAtMs: z.number() });
const StoredSecret = z.object({
  name: z.string(),
  arn: z.string(),
  createdAtMs: z.number(),
  description: z.string().optional(),
  versions: z.array(z.tuple([z.string(), StoredVersion])),
  current: z.string(),
  previous: z.string().optional(),
});

/** Returns the secrets in the file, or no secrets if the file does not exist. @throws if the content is invalid */
export function readSecrets(file: string): Map<string, Secret> {
  const stored = z.array(StoredSecret).parse(JSON.parse(readText(file)));
  return new Map(
    stored.map(({ versions, description, previous, ...secret }) => [
      secret.name,
      { ...secret, description, previous, versions: new Map(versions), deletedAtMs: undefined },
    ]),
  );
}

/** Replaces the file atomically, readable only by its owner. Secrets that are marked for deletion are left out. */
export function writeSecrets(file: string, secrets: ReadonlyMap<string, Secret>): void {
  const kept = [...secrets.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined);
  const stored = kept.map((secret) => ({ ...secret, versions: [...secret.versions] }));
  writeFileSync(`${file}.tmp`, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '[]';
    throw error;
  }
}
