import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  AwsFault,
  type AwsReply,
  type AwsRequest,
  type AwsService,
  jsonReply,
  readBody,
} from './exchange.ts';
import { readSecrets, type Secret, writeSecrets } from './secrets-file.ts';

const TARGET = 'secretsmanager.';
const DAY_MS = 86_400_000;

const Named = z.object({ SecretId: z.string().min(1) });
/** A client request token becomes the version's id: 32 to 64 characters (API reference, PutSecretValue). */
const Token = z.string().min(32).max(64).optional();
const Create = z.object({
  Name: z.string().regex(/^[\w/+=.@-]{1,512}$/),
  SecretString: z.string().max(65_536),
  Description: z.string().optional(),
  ClientRequestToken: Token,
});
const Put = Named.extend({ SecretString: z.string().max(65_536), ClientRequestToken: Token });
const Get = Named.extend({ VersionId: z.string().optional(), VersionStage: z.string().optional() });
const Delete = Named.extend({
  ForceDeleteWithoutRecovery: z.boolean().default(false),
  RecoveryWindowInDays: z.number().int().min(7).max(30).default(30),
});

/**
 * Emulates the operations of AWS Secrets Manager that groupsync uses.
 * @param file each change is stored in this file before the reply; without a file, the secrets are in memory
 */
export function createSecretsManager(file?: string): AwsService {
  const secrets = file === undefined ? new Map<string, Secret>() : readSecrets(file);
  const saved = <Answer>(answer: Answer): Answer => {
    if (file !== undefined) writeSecrets(file, secrets);
    return answer;
  };
  const operations: Readonly<Record<string, (request: AwsRequest) => unknown>> = {
    CreateSecret: (request) => saved(createSecret(secrets, readBody(request, Create))),
    PutSecretValue: (request) => saved(putValue(secrets, readBody(request, Put))),
    GetSecretValue: (request) => getValue(secrets, readBody(request, Get)),
    DescribeSecret: (request) => describe(find(secrets, readBody(request, Named).SecretId)),
    DeleteSecret: (request) => saved(deleteSecret(secrets, readBody(request, Delete))),
    RestoreSecret: (request) => saved(restoreSecret(find(secrets, readBody(request, Named).SecretId))),
    ListSecrets: () => ({
      SecretList: [...secrets.values()].filter((one) => one.deletedAtMs === undefined).map(describe),
    }),
  };
  return (request) => {
    const target = request.headers['x-amz-target'];
    if (typeof target !== 'string' || !target.startsWith(TARGET)) return undefined;
    return answer(operations[target.slice(TARGET.length)], request);
  };
}

async function answer(
  operation: ((request: AwsRequest) => unknown) | undefined,
  request: AwsRequest,
): Promise<AwsReply> {
  if (operation === undefined) {
    throw new AwsFault('UnknownOperationException', 'the local Secrets Manager does not have this operation');
  }
  return jsonReply(operation(request));
}

/** Finds a secret by name or ARN, even if it is marked for deletion. */
function find(secrets: ReadonlyMap<string, Secret>, id: string): Secret {
  const found = secrets.get(id) ?? [...secrets.values()].find(({ arn }) => arn === id);
  if (found === undefined) {
    throw new AwsFault('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  }
  return found;
}

function findUsable(secrets: ReadonlyMap<string, Secret>, id: string): Secret {
  const found = find(secrets, id);
  if (found.deletedAtMs !== undefined) {
    throw new AwsFault('InvalidRequestException', 'The secret is marked for deletion.');
  }
  return found;
}

function createSecret(secrets: Map<string, Secret>, input: z.infer<typeof Create>) {
  const existing = secrets.get(input.Name);
  if (existing?.deletedAtMs !== undefined) {
    throw new AwsFault('InvalidRequestException', 'A secret with this name is scheduled for deletion.');
  }
  if (existing !== undefined) {
    throw new AwsFault('ResourceExistsException', `The secret ${input.Name} already exists.`);
  }
  const version = input.ClientRequestToken ?? randomUUID();
  const createdAtMs = Date.now();
  const secret: Secret = {
    name: input.Name,
    arn: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${input.Name}-${randomUUID().slice(0, 6)}`,
    createdAtMs,
    description: input.Description,
    versions: new Map([[version, { text: input.SecretString, createdAtMs }]]),
    current: version,
    previous: undefined,
    deletedAtMs: undefined,
  };
  secrets.set(secret.name, secret);
  return { ARN: secret.arn, Name: secret.name, VersionId: version };
}

function restoreSecret(secret: Secret) {
  secret.deletedAtMs = undefined;
  return { ARN: secret.arn, Name: secret.name };
}

/** Stores a value. If the token was used before, the request must be a retry with the same value. */
function putValue(secrets: Map<string, Secret>, input: z.infer<typeof Put>) {
  const secret = findUsable(secrets, input.SecretId);
  const version = input.ClientRequestToken ?? randomUUID();
  const existing = secret.versions.get(version);
  if (existing !== undefined && existing.text !== input.SecretString) {
    throw new AwsFault('ResourceExistsException', 'This version id belongs to another value.');
  }
  if (existing === undefined) {
    secret.versions.set(version, { text: input.SecretString, createdAtMs: Date.now() });
    secret.previous = secret.current;
    secret.current = version;
  }
  return { ARN: secret.arn, Name: secret.name, VersionId: version, VersionStages: stagesOf(secret, version) };
}

function getValue(secrets: ReadonlyMap<string, Secret>, input: z.infer<typeof Get>) {
  const secret = findUsable(secrets, input.SecretId);
  const stage = input.VersionStage ?? 'AWSCURRENT';
  const staged = { AWSCURRENT: secret.current, AWSPREVIOUS: secret.previous }[stage];
  const version = input.VersionId ?? staged ?? '';
  const value = secret.versions.get(version);
  if (value === undefined) {
    throw new AwsFault('ResourceNotFoundException', "Secrets Manager can't find the specified secret value.");
  }
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: version,
    SecretString: value.text,
    VersionStages: stagesOf(secret, version),
    CreatedDate: value.createdAtMs / 1000,
  };
}

function deleteSecret(secrets: Map<string, Secret>, input: z.infer<typeof Delete>) {
  const secret = findUsable(secrets, input.SecretId);
  const endMs = Date.now() + (input.ForceDeleteWithoutRecovery ? 0 : input.RecoveryWindowInDays * DAY_MS);
  if (input.ForceDeleteWithoutRecovery) secrets.delete(secret.name);
  else secret.deletedAtMs = endMs;
  return { ARN: secret.arn, Name: secret.name, DeletionDate: endMs / 1000 };
}

const describe = (secret: Secret) => ({
  ARN: secret.arn,
  Name: secret.name,
  Description: secret.description,
  CreatedDate: secret.createdAtMs / 1000,
  LastChangedDate: (secret.versions.get(secret.current)?.createdAtMs ?? secret.createdAtMs) / 1000,
  DeletedDate: secret.deletedAtMs === undefined ? undefined : secret.deletedAtMs / 1000,
  VersionIdsToStages: Object.fromEntries(
    [...secret.versions.keys()].map((version) => [version, stagesOf(secret, version)]),
  ),
});

function stagesOf(secret: Secret, version: string): string[] {
  if (version === secret.current) return ['AWSCURRENT'];
  return version === secret.previous ? ['AWSPREVIOUS'] : [];
}
