import type { Episode, Notice } from '../../domain/notice.ts';

export interface NoticeBoard {
  readonly episodes: readonly Episode[];
  /** The failure of the latest attempt to send notices. */
  readonly lastFailure?: { readonly atMs: number; readonly message: string };
  /** Each change raises this number. Conditional writes compare it. */
  readonly change: number;
}

/** The subject of a notice. `endedMs` is set if the notice reports the end of an episode. */
export type NoticeSubject = Pick<Episode, 'subject' | 'endedMs'>;

export interface Notifier {
  readonly prefix: string;
  /** The address of the deployed console, for links; undefined if the stage has none. */
  readonly consoleUrl?: string | undefined;
  /** `webhook` and ARNs of topics; empty if no notices are sent. */
  readonly targets: readonly string[];
  /**
   * Sends a notice, and never throws.
   * @param about what the text is about; undefined for the message of `notify test`
   * @returns the targets that did not accept the notice, each with a reason that contains no secret
   */
  send(notice: Notice, about?: NoticeSubject): Promise<ReadonlyMap<string, string>>;
}
