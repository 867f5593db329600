import type { Random } from '../random.ts';
import type { DirectoryFault, DirectoryFaultAction } from './faults.ts';

/** An answer of the directory to one request. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

export interface Question {
  /** The name of the method in Google's documentation. */
  readonly operation: string;
  /** Id of the group in the path, if the path contains one. */
  readonly group: string | undefined;
  readonly pageToken: string | undefined;
}

/** For each fault, the name of the Google error that it causes. */
export const REFUSALS: Readonly<Partial<Record<DirectoryFault, string>>> = {
  quota_403: 'quotaExceeded',
  quota_429: 'rateLimitExceeded',
  answers_503: 'backendError',
  denies_401: 'authError',
  denies_403: 'forbidden',
};

interface DistortionOptions {
  readonly nowMs: () => number;
  readonly random: Random;
  readonly fired: (name: string) => void;
}

type Page = { [field: string]: unknown } & {
  members?: readonly unknown[];
  groups?: readonly { readonly id: string }[];
  items?: readonly unknown[];
  nextPageToken?: string;
};

/** Applies the active faults of one directory to its answers. */
export function createDistortion({ nowMs, random, fired }: DistortionOptions) {
  let spells: (DirectoryFaultAction & { readonly untilMs: number })[] = [];
  const activeOf = (fault: DirectoryFault) =>
    spells.find(({ directoryFault, untilMs }) => directoryFault === fault && untilMs > nowMs());
  /** Returns whether the fault takes effect now, for this group. A fault may affect all groups or only some. */
  const strikes = (fault: DirectoryFault, group?: string): boolean => {
    const spell = activeOf(fault);
    if (spell === undefined || (spell.about !== undefined && !spell.about.includes(group ?? '')))
      return false;
    if (spell.share !== undefined && !random.chance(spell.share)) return false;
    fired(`directoryFault:${fault}`);
    return true;
  };

  const asShown = (group: { readonly id: string }): object => {
    const { directMembersCount: count, ...rest } = group as { id: string; directMembersCount?: string };
    if (activeOf('shows_no_members') !== undefined) return rest;
    if (count === undefined || !strikes('counts_too_many', group.id)) return group;
    return { ...rest, directMembersCount: String(Number(count) + 1) };
  };

  /**
   * Returns a page at which the list wrongly ends. If the list has more pages, the page keeps its items and loses the
   * link to the next page. Otherwise it loses half of its items.
   */
  const endedEarly = ({ nextPageToken, members = [], ...page }: Page): Page => {
    const kept = nextPageToken === undefined ? members.slice(0, members.length >> 1) : members;
    return kept.length === 0 ? page : { ...page, members: kept };
  };

  const membersPage = (page: Page): Page => {
    const { members = [], nextPageToken } = page;
    if (members.length > 0 && strikes('shows_no_members')) return { kind: page['kind'] };
    if (activeOf('shows_no_members') !== undefined) return page;
    const hasMore = members.length > 0 || nextPageToken !== undefined;
    return hasMore && strikes('ends_early') ? endedEarly(page) : page;
  };

  const groupsPage = ({ groups, ...page }: Page): Page => {
    const left = (groups ?? []).filter(({ id }) => !strikes('lists_few', id) && !strikes('hides_group', id));
    return { ...page, ...(groups !== undefined && { groups: left.map(asShown) as never }) };
  };

  const changed = (question: Question, body: Page): Page => {
    const { operation, pageToken } = question;
    const isList = operation.endsWith('.list');
    if (isList && strikes('answers_empty_json')) return {};
    if (pageToken !== undefined && strikes('repeats_page_token'))
      return { ...body, nextPageToken: pageToken };
    if (operation === 'directory.members.list') return membersPage(body);
    if (operation === 'directory.groups.list') return groupsPage(body);
    if (operation === 'directory.groups.get') return asShown(body as never) as Page;
    const isLog = operation === 'reports.activities.list' && body.items !== undefined;
    return isLog && strikes('log_silent') ? { kind: body['kind'] } : body;
  };

  return {
    begin: (action: DirectoryFaultAction) => spells.push({ ...action, untilMs: nowMs() + action.forMs }),
    calm: () => {
      spells = [];
    },
    strikes,
    isOn: () => spells.some(({ untilMs }) => untilMs > nowMs()),
    /**
     * Returns the name of the error with which the directory answers, if a fault requires one; `lost` means that there
     * is no answer.
     */
    refusalOf({ operation, group }: Question): string | undefined {
      if (strikes('loses_answers')) return 'lost';
      const isApi = operation !== 'oauth2.token';
      const refused = Object.entries(REFUSALS).find(
        ([fault]) => (isApi || !fault.startsWith('denies')) && strikes(fault as DirectoryFault),
      );
      if (refused !== undefined) return refused[1];
      return group !== undefined && strikes('hides_group', group) ? 'notFound' : undefined;
    },
    distort(question: Question, body: unknown): Reply {
      if (question.operation === 'oauth2.token') return { status: 200, text: JSON.stringify(body) };
      const text = JSON.stringify(changed(question, body as Page));
      if (strikes('answers_html')) return { status: 200, text: '<html><title>Sign in</title></html>' };
      return { status: 200, text: strikes('breaks_off') ? text.slice(0, text.length >> 1) : text };
    },
  };
}
