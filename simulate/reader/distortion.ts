import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import type { Random } from '../random.ts';
import type { DirectoryFault, DirectoryFaultAction } from './faults.ts';
import type { Content, Page, Question, SourceVendor } from './vendor.ts';

export interface Asked {
  readonly question: Question;
  readonly group: string | undefined;
  /** The cursor in the request; undefined for a first page. */
  readonly cursor: string | undefined;
}

/** The answer of the directory to a refused request: an error of the simulator by its name, or no answer. */
type Refusal = { readonly error: string } | 'lost';

/** The faults that make the directory answer with an error. */
const REFUSALS = ['quota_403', 'quota_429', 'answers_503', 'denies_401', 'denies_403'] as const;

const LISTS: ReadonlySet<Question> = new Set<Question>(['groups', 'members', 'users', 'changes']);

interface DistortionOptions {
  readonly vendor: Pick<
    SourceVendor<DirectoryKind>,
    'errors' | 'pageIn' | 'withPage' | 'withCount' | 'distort'
  >;
  readonly nowMs: () => number;
  readonly random: Random;
  readonly fired: (name: string) => void;
}

export function createDistortion({ vendor, nowMs, random, fired }: DistortionOptions) {
  let spells: (DirectoryFaultAction & { readonly untilMs: number })[] = [];
  const active = (fault: DirectoryFault) =>
    spells.find(({ directoryFault, untilMs }) => directoryFault === fault && untilMs > nowMs());
  /** Returns whether the fault takes effect now for this group. A fault may affect all groups or only some of them. */
  const strikes = (fault: DirectoryFault, group?: string): boolean => {
    const spell = active(fault);
    if (spell === undefined || (spell.about !== undefined && !spell.about.includes(group ?? '')))
      return false;
    if (spell.share !== undefined && !random.chance(spell.share)) return false;
    fired(`directoryFault:${fault}`);
    return true;
  };

  /** Returns a group as the directory shows it. */
  const asShown = (group: object): object => {
    if (active('shows_no_members') !== undefined) return vendor.withCount(group, () => undefined);
    const { id } = group as { readonly id: string };
    return vendor.withCount(group, (count) => (strikes('counts_too_many', id) ? count + 1 : count));
  };

  /** Returns a page that wrongly ends the list: without its link, or the last page with half of its items. */
  const endedEarly = ({ next, items, ...page }: Page): Page => ({
    ...page,
    items: next === undefined ? items.slice(0, items.length >> 1) : items,
    next: undefined,
  });

  const membersPage = (page: Page, group: string | undefined): Page => {
    const isOpen = page.items.length > 0 || page.next !== undefined;
    const isHidden = active('shows_no_members') !== undefined;
    const count = page.count === undefined ? {} : { count: 0 };
    if (isHidden && isOpen && strikes('shows_no_members')) return { items: [], next: undefined, ...count };
    if (isHidden) return page;
    if (isOpen && strikes('ends_early')) return endedEarly(page);
    const isTooHigh = page.count !== undefined && strikes('counts_too_many', group);
    return isTooHigh ? { ...page, count: (page.count ?? 0) + 1 } : page;
  };

  const groupsPage = (page: Page): Page => {
    const isShown = ({ id }: { readonly id: string }) =>
      !strikes('lists_few', id) && !strikes('hides_group', id);
    const items = (page.items as readonly { readonly id: string }[]).filter(isShown);
    return { ...page, items: items.map(asShown) };
  };

  const changedPage = ({ question, group, cursor }: Asked, page: Page): Page => {
    if (cursor !== undefined && strikes('repeats_page_token')) return { ...page, next: cursor };
    if (question === 'members') return membersPage(page, group);
    if (question === 'groups') return groupsPage(page);
    const isSilent = question === 'changes' && page.items.length > 0 && strikes('log_silent');
    return isSilent ? { ...page, items: [] } : page;
  };

  const changed = (asked: Asked, content: Content): Content => {
    const { question } = asked;
    if (LISTS.has(question) && strikes('answers_empty_json')) return { ...content, body: {} };
    if (question === 'group') return { ...content, body: asShown(content.body as object) };
    const page = vendor.pageIn(content);
    return page === undefined ? content : vendor.withPage(content, changedPage(asked, page));
  };

  return {
    begin: (action: DirectoryFaultAction) => spells.push({ ...action, untilMs: nowMs() + action.forMs }),
    calm: () => {
      spells = [];
    },
    active,
    strikes,
    isOn: () => spells.some(({ untilMs }) => untilMs > nowMs()),
    refusalOf({ question, group }: Asked): Refusal | undefined {
      if (strikes('loses_answers')) return 'lost';
      const isApi = question !== 'token';
      const refused = REFUSALS.find((fault) => (isApi || !fault.startsWith('denies')) && strikes(fault));
      if (refused !== undefined) return { error: vendor.errors[refused] ?? '' };
      const isHidden = group !== undefined && strikes('hides_group', group);
      return isHidden ? { error: vendor.errors.missing } : undefined;
    },
    distort(asked: Asked, content: Content): { readonly text: string; readonly headers: Content['headers'] } {
      if (asked.question === 'token') return { text: JSON.stringify(content.body), headers: content.headers };
      const given = changed(asked, content);
      const { body, headers } = vendor.distort?.(given, strikes) ?? given;
      const text = JSON.stringify(body);
      if (strikes('answers_html')) return { text: '<html><title>Sign in</title></html>', headers };
      return { text: strikes('breaks_off') ? text.slice(0, text.length >> 1) : text, headers };
    },
  };
}
