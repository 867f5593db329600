import { createHash } from 'node:crypto';
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { jsonValue } from '../shared/contract/json.ts';
import { UsageError } from './io.ts';

/** The files of a folder with evidence. Next to each, a file has the hash of each of its lines. */
const FILES = ['access.csv', 'access.jsonl', 'actions.csv', 'items.jsonl'] as const;
type FileName = (typeof FILES)[number];
const HASHES = '.sha256';
const MANIFEST = 'manifest.json';
const SUM = `${MANIFEST}${HASHES}`;
const UNFINISHED = 'unfinished.json';

const EvidenceGroup = z.object({
  /** The empty id is the journal of the connection. */
  group: z.string(),
  items: z.int(),
  knownSince: z.string().nullable(),
  links: z.array(z.string()),
});
export type EvidenceGroup = z.infer<typeof EvidenceGroup>;

const Request = z.object({
  connection: z.string(),
  about: z.string(),
  since: z.string(),
  until: z.string(),
});
type EvidenceRequest = z.infer<typeof Request>;

const Unfinished = z.object({
  request: Request,
  groups: z.array(EvidenceGroup),
  bytes: z.record(z.string(), z.int()),
});

const Manifest = z.object({
  request: Request,
  madeBy: z.string(),
  madeAt: z.string(),
  groups: z.array(EvidenceGroup),
  files: z.array(z.object({ name: z.string(), lines: z.int(), sha256: z.string() })),
});
type EvidenceManifest = z.infer<typeof Manifest>;

const hashOf = (line: string): string => createHash('sha256').update(line).digest('hex').slice(0, 16);

/**
 * Opens a folder for evidence. If an earlier command with the same request was stopped, its finished groups are kept.
 * @throws UsageError if the folder has other files
 */
export function openEvidence(folder: string, request: EvidenceRequest) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const state = existsSync(join(folder, UNFINISHED))
    ? readForm(folder, UNFINISHED, Unfinished)
    : { request, groups: [], bytes: {} as Record<string, number> };
  const isNew = state.groups.length === 0;
  if (isNew && readdirSync(folder).some((name) => name !== UNFINISHED && !isOwn(name)))
    throw new UsageError(`expected an empty folder, or none, got ${folder}`);
  const [was, is] = [state.request, request].map(({ connection, about }) => `${connection} ${about}`);
  if (was !== is)
    throw new UsageError(`${folder}: expected a folder for ${is}, got unfinished evidence of ${was}`);
  const names = FILES.flatMap((name) => [name, `${name}${HASHES}`]);
  for (const name of names) {
    const path = join(folder, name);
    if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
    truncateSync(path, state.bytes[name] ?? 0);
  }
  const { groups, bytes } = state;
  const save = (name: string, content: unknown) => {
    writeFileSync(join(folder, `${name}.new`), `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  return {
    request: state.request,
    done: groups as readonly EvidenceGroup[],

    add(group: EvidenceGroup, lines: Readonly<Record<FileName, readonly string[]>>): void {
      for (const name of FILES) {
        const texts = { [name]: lines[name], [`${name}${HASHES}`]: lines[name].map(hashOf) };
        for (const [file, some] of Object.entries(texts)) {
          const text = some.map((line) => `${line}\n`).join('');
          appendFileSync(join(folder, file), text);
          bytes[file] = (bytes[file] ?? 0) + Buffer.byteLength(text);
        }
      }
      groups.push(group);
      save(UNFINISHED, { request: state.request, groups, bytes });
    },

    /** Writes the manifest. @returns its SHA-256 */
    async finish(madeBy: string, madeAt: string): Promise<string> {
      const files = [];
      for (const name of names) files.push({ name, ...(await readSums(join(folder, name))) });
      save(MANIFEST, { request: state.request, madeBy, madeAt, groups, files } satisfies EvidenceManifest);
      const { sha256 } = await readSums(join(folder, MANIFEST));
      writeFileSync(join(folder, SUM), `${sha256}  ${MANIFEST}\n`, { mode: 0o600 });
      rmSync(join(folder, UNFINISHED));
      return sha256;
    },
  };
}
const isOwn = (name: string) => FILES.some((file) => name.startsWith(file));

/** @throws Error if the file is missing or has another form */
function readForm<Form>(folder: string, name: string, form: z.ZodType<Form>): Form {
  const path = join(folder, name);
  const parsed = form.safeParse(existsSync(path) ? jsonValue(readFileSync(path, 'utf8')) : undefined);
  const expected = 'expected a folder with evidence of groupsync';
  if (!existsSync(path)) throw new Error(`${expected}; ${path} does not exist`);
  if (!parsed.success) throw new Error(`${expected}; ${path} has another content`);
  return parsed.data;
}

const linesOf = (path: string) =>
  createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });

async function readSums(path: string) {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const line of linesOf(path)) {
    hash.update(`${line}\n`);
    lines += 1;
  }
  return { lines, sha256: hash.digest('hex') };
}

export async function readEvidence(folder: string) {
  const manifest = readForm(folder, MANIFEST, Manifest);
  const changed: { readonly file: string; readonly line: number | null }[] = [];
  const sum = existsSync(join(folder, SUM)) ? readFileSync(join(folder, SUM), 'utf8') : '';
  if (!sum.startsWith((await readSums(join(folder, MANIFEST))).sha256))
    changed.push({ file: MANIFEST, line: null });
  for (const { name, lines, sha256 } of manifest.files) {
    if (!existsSync(join(folder, name))) throw new UsageError(`${folder}: expected the file ${name}`);
    const now = await readSums(join(folder, name));
    if (now.sha256 === sha256 && now.lines === lines) continue;
    const other = name.endsWith(HASHES) ? name.slice(0, -HASHES.length) : name;
    changed.push({ file: name, line: await firstChanged(folder, other) });
  }
  return { manifest, changed, items: linesOf(join(folder, 'items.jsonl')) };
}

/** Returns the first line that differs from its hash; null if no line does. */
async function firstChanged(folder: string, name: string): Promise<number | null> {
  const hashes = linesOf(join(folder, `${name}${HASHES}`))[Symbol.asyncIterator]();
  let at = 0;
  for await (const line of linesOf(join(folder, name))) {
    at += 1;
    const { value } = await hashes.next();
    if (value !== hashOf(line)) return at;
  }
  return (await hashes.next()).done === true ? null : at + 1;
}
