import { createPrivateKey } from 'node:crypto';
import * as z from 'zod';
import { seededRandom } from '../local/platform/seeded-random.ts';
import type { OpenDialect } from './engine/dialect.ts';
import { REALISTIC_SETTINGS, type Settings } from './engine/settings.ts';
import type { WorldInput } from './engine/world.ts';
import { entra } from './entra/dialect.ts';
import { REALISTIC_ENTRA_SETTINGS } from './entra/settings.ts';
import { entraWorld } from './generate-entra.ts';
import { google } from './google/dialect.ts';
import { okta } from './okta/dialect.ts';
import { oktaWorld } from './okta/world.ts';

const KeyFile = z.looseObject({ private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----') });

/** What differs between the simulators of the vendors, outside their dialects. */
export interface SimulatedDirectory {
  /** Returns the dialect. `key` is the content of the key file, as JSON. */
  open(key: unknown): OpenDialect;
  /** The beginning of the printed line with the private key; undefined if the vendor's clients have no such key. */
  readonly keyLine: string | undefined;
  /** A description of the key file's content, for error messages. */
  readonly keyName: string | undefined;
  /** The settings that apply without `--calm`. */
  readonly realistic: Settings;
  worldOf(world: WorldInput, seed: string): WorldInput;
}

export const DIRECTORIES = {
  google: {
    open: (key) => google({ customerKey: key === undefined ? undefined : KeyFile.parse(key).private_key }),
    keyLine: 'service account key ',
    keyName: 'the key of a service account as JSON',
    realistic: REALISTIC_SETTINGS,
    worldOf: (world) => world,
  },
  entra: {
    open: () => entra(),
    keyLine: undefined,
    keyName: undefined,
    realistic: REALISTIC_ENTRA_SETTINGS,
    worldOf: entraWorld,
  },
  okta: {
    open: (key) => okta({ clientKey: key === undefined ? undefined : pemOf(key) }),
    keyLine: 'client key ',
    keyName: 'a private key as JWK',
    realistic: REALISTIC_SETTINGS,
    worldOf: (world, seed) => oktaWorld(world, seededRandom(`${seed}/okta`)),
  },
} satisfies Readonly<Record<string, SimulatedDirectory>>;

const pemOf = (jwk: unknown) =>
  createPrivateKey({ key: jwk as never, format: 'jwk' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
