import { generateKeyPairSync } from 'node:crypto';
import type { AnswerHeaders, OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import type { DirectoryKind, DirectoryOf } from '../../shared/contract/directory-settings.ts';
import type { Directory } from '../../shared/directory/ports.ts';
import type { DirectoryWorld } from '../../shared/directory/vendors/exchange.ts';
import type { Random } from '../random.ts';
import type { DirectoryFault, DirectoryFaultAction } from './faults.ts';

/** The address of the simulator. Token endpoints accept assertions for any address of this machine. */
export const BASE_URL = 'http://127.0.0.1';

export type Question = 'token' | 'changes' | 'groups' | 'group' | 'members' | 'member' | 'users' | 'user';

export interface Content {
  readonly body: unknown;
  readonly headers: AnswerHeaders;
}

export interface Page {
  readonly items: readonly unknown[];
  /** The cursor of the next page, in the vendor's form; undefined on the last page. */
  readonly next: string | undefined;
  /** The number of all items, if the page shows it. */
  readonly count?: number | undefined;
}

/** Returns the active fault with this name; undefined if this fault is not active. */
type ActiveFault = (fault: DirectoryFault) => DirectoryFaultAction | undefined;

type UsualError = 'quota_429' | 'answers_503' | 'denies_401' | 'denies_403' | 'missing';

type Control = (name: string, body?: unknown) => unknown;

export type UserInput = NonNullable<WorldInput['users']>[number];
export type GroupInput = NonNullable<WorldInput['groups']>[number];

/** What only the directories of one vendor have. */
interface OwnObjects {
  readonly users?: readonly UserInput[];
  /** Fields of the first users. The administrator is the first. */
  readonly userFields?: readonly UserInput['vendorFields'][];
  /** For each group, the fields that replace the drawn fields. */
  readonly groupFields?: Readonly<Record<string, Partial<GroupInput>>>;
  /** For each group, its further members. */
  readonly members?: Readonly<Record<string, NonNullable<GroupInput['members']>>>;
}

/** All that the simulation knows about the directories of one vendor. */
export interface SourceVendor<Kind extends DirectoryKind> {
  settingFrom(random: Random): DirectoryOf<Kind>;
  readonly ownObjects: OwnObjects;
  /** Faults that directories of other vendors do not have. */
  readonly ownFaults: readonly DirectoryFault[];
  /** Whether a group can contain groups. */
  readonly nests: boolean;
  /** Whether a deleted user or group can be restored. */
  readonly restores: boolean;
  /** Whether only a deactivated user can be deleted. */
  readonly deactivatesFirst: boolean;
  /** A group whose members no administrator can change. */
  readonly fixedGroup?: string;
  readonly dialect: () => OpenDialect;
  /** @param operation the name of the method in the vendor's documentation */
  questionOf(operation: string): Question;
  /** Returns the cursor that a request contains, in the form of {@link Page.next}; undefined for a first page. */
  cursorOf(url: URL): string | undefined;
  /** For each refusal, the name of the simulator's error. `missing` is the error for a group that does not exist. */
  readonly errors: Readonly<Record<UsualError, string>> & { readonly quota_403?: string };
  /** Returns the page in an answer; undefined if the answer is not a list. */
  pageIn(content: Content): Page | undefined;
  withPage(content: Content, page: Page): Content;
  /** Returns a group with another count of members. A group that shows no count stays unchanged. */
  withCount(group: object, countOf: (count: number) => number | undefined): object;
  /** Returns the body of the control call that limits the permissions of the reader to those of the active faults. */
  readonly rights?: { readonly control: string; readonly bodyOf: (active: ActiveFault) => unknown };
  /** Applies a fault that only this vendor has to the answer. */
  distort?(content: Content, strikes: (fault: DirectoryFault) => boolean): Content;
  open(setting: DirectoryOf<Kind>, control: Control, world: DirectoryWorld): Promise<Directory>;
}

let pem: string | undefined;

/** Returns the same key for all runs of a process, because creating a key is slow. */
export function customerKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 1_024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return pem;
}
