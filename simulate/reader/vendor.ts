import { generateKeyPairSync } from 'node:crypto';
import type { AnswerHeaders, OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import type { DirectoryKind, DirectoryOf } from '../../shared/contract/settings.ts';
import type { DirectoryWorld } from '../../shared/directory/exchange.ts';
import type { Directory } from '../../shared/sync/ports/directory.ts';
import type { DirectoryFault, DirectoryFaultAction } from './faults.ts';

/** The address of the simulator. Token endpoints accept assertions for any address of this machine. */
export const BASE_URL = 'http://127.0.0.1';

/** The question that a request asks. All vendors have the same questions. */
export type Question = 'token' | 'changes' | 'groups' | 'group' | 'members' | 'member' | 'users' | 'user';

/** An answer with the status 200. */
export interface Content {
  readonly body: unknown;
  readonly headers: AnswerHeaders;
}

/** A page of a list. */
export interface Page {
  readonly items: readonly unknown[];
  /** The cursor of the next page, in the vendor's form; undefined on the last page. */
  readonly next: string | undefined;
  /** The number of all items, if the page shows it. */
  readonly count?: number | undefined;
}

/** Returns the active fault with this name. */
export type ActiveFault = (fault: DirectoryFault) => DirectoryFaultAction | undefined;

/** Calls a control of the simulator: `POST /_simulator/{name}`. */
export type Control = (name: string, body?: unknown) => unknown;

/** How the directory of one vendor is simulated, distorted and read. */
export interface SourceVendor<Kind extends DirectoryKind> {
  readonly dialect: () => OpenDialect;
  /** @param operation the name of the method in the vendor's documentation */
  questionOf(operation: string): Question;
  /** Returns the cursor that a request contains, in the form of {@link Page.next}; undefined for a first page. */
  cursorOf(url: URL): string | undefined;
  /** By fault: the name of the simulator's error. `missing` is the error for a group that does not exist. */
  readonly errors: Readonly<Partial<Record<DirectoryFault | 'missing', string>>>;
  /** Returns undefined if the answer is not a list. */
  pageIn(content: Content): Page | undefined;
  /** Returns the answer with this page instead of its own. */
  withPage(content: Content, page: Page): Content;
  /** Returns a group with another count of members. A group that shows no count stays unchanged. */
  withCount(group: object, countOf: (count: number) => number | undefined): object;
  /** Returns the body of the control that limits the rights of the reader as the active faults demand. */
  readonly rights?: { readonly control: string; readonly bodyOf: (active: ActiveFault) => unknown };
  /** Applies a fault that only this vendor has to an answer. */
  distort?(content: Content, strikes: (fault: DirectoryFault) => boolean): Content;
  /** Returns the directory as the reader opens it. */
  open(setting: DirectoryOf<Kind>, control: Control, world: DirectoryWorld): Promise<Directory>;
}

let pem: string | undefined;

/** Returns one key for all runs of a process, because its creation is slow. No result of a run depends on the key. */
export function customerKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 1_024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return pem;
}
