import type { ConnectionName } from '../../domain/ids.ts';
import type { Episode, Notice } from '../../domain/notice.ts';

/** The notices of one connection, sent and still to be sent; without a connection, those of the stage. */
export interface NoticeBoard {
  readonly episodes: readonly Episode[];
  /** The latest attempt, where it failed. */
  readonly lastFailure?: { readonly atMs: number; readonly message: string };
  /** Counts changes. */
  readonly change: number;
}

export interface NoticeStore {
  read(connection?: ConnectionName): Promise<NoticeBoard>;
  /** Writes the board with its change counter raised; undefined if the board was changed since it was read. */
  write(board: NoticeBoard, connection?: ConnectionName): Promise<NoticeBoard | undefined>;
}

export interface Notifier {
  readonly prefix: string;
  /** `webhook` and ARNs of topics; empty if no notices are sent. */
  readonly targets: readonly string[];
  /** Which targets were not told, and why, with nothing secret in it. Never throws. */
  tell(notice: Notice): Promise<ReadonlyMap<string, string>>;
}
