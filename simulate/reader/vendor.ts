import { generateKeyPairSync } from 'node:crypto';
import type { AnswerHeaders, OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import type { DirectoryKind, DirectoryOf } from '../../shared/contract/directory-settings.ts';
import type { Directory } from '../../shared/directory/ports.ts';
import type { DirectoryWorld } from '../../shared/directory/vendors/exchange.ts';
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

type Control = (name: string, body?: unknown) => unknown;

/** The vendor-specific functions that simulate, distort and open a directory. */
export interface SourceVendor<Kind extends DirectoryKind> {
  readonly dialect: () => OpenDialect;
  /** @param operation the name of the method in the vendor's documentation */
  questionOf(operation: string): Question;
  /** Returns the cursor that a request contains, in the form of {@link Page.next}; undefined for a first page. */
  cursorOf(url: URL): string | undefined;
  /** For each fault, the name of the simulator's error. `missing` is the error for a group that does not exist. */
  readonly errors: Readonly<Partial<Record<DirectoryFault | 'missing', string>>>;
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

/**
 * Returns the same key for all runs of a process, because creating a key is slow. No result of a run depends on the
 * key.
 */
export function customerKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 1_024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return pem;
}
