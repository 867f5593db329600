import { plainHeading, spellingsOf, wordsIn } from './headings.ts';

/** Whether an account is switched on. A file does not add people whose account is inactive. */
type AccountState = 'active' | 'inactive';

type StateKind = 'status' | 'switched off' | 'end date' | 'control flags';

/**
 * Usual headings of columns about the state of accounts, in the form of `plainHeading`, without the words of `PREFIX`.
 * Sources: GAM and Google Workspace (status, suspended, archived), Okta, JumpCloud, OneLogin and PingOne (status),
 * Entra ID and Microsoft 365 (accountEnabled, block credential), Active Directory, Workday and other HR systems.
 */
export const STATE_SPELLINGS: Readonly<Record<StateKind, readonly string[]>> = {
  status: wordsIn('status lifecyclestatus signinstatus activestatus active activated enabled'),
  'switched off': wordsIn(
    'suspended archived disabled deactivated deprovisioned deleted inactive',
    'terminated blockcredential blocksignin signinblocked',
  ),
  'end date': wordsIn(
    'terminationdate terminatedon enddate contractenddate leavedate leavingdate exitdate',
    'lastworkingday lastworkingdate lastdayofwork offboardingdate deactivationdate',
    'expirationdate deletiontime softdeletiontimestamp',
  ),
  'control flags': ['useraccountcontrol'],
};

/** Words in front of a usual heading, as in "User Status", "isSuspended" and "accountEnabled". */
const PREFIX =
  /^(?:is|currently|current|okta|google|hr|user|member|account|employee|employment|worker|person)+/;

/** The readers of the directories count the same states as active, for example a locked account. */
const STATES: Readonly<Record<AccountState, ReadonlySet<string>>> = {
  active: new Set(
    wordsIn(
      'active activated enabled provisioned recovery lockedout locked passwordexpired',
      'passwordreset pendinguseraction awaitingpasswordreset accountok signinallowed allowed',
      'employed current',
    ),
  ),
  inactive: new Set(
    wordsIn(
      'suspended archived staged deprovisioned deactivated disabled inactive deleted',
      'softdeleted terminated signinblocked blocked offboarded former formeremployee',
      'left leaver retired resigned dismissed separated exited deceased',
    ),
  ),
};

/** Spreadsheets translate TRUE and FALSE. */
const YES: ReadonlySet<string> = new Set(['true', 'yes', 'y', '1', 'wahr', 'ja', 'vrai', 'oui']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'n', '0', 'falsch', 'nein', 'faux', 'non']);
const NO_DATE: ReadonlySet<string> = new Set(['never', 'none', 'null', 'na']);
/** The flag ACCOUNTDISABLE of Active Directory. */
const DISABLED_FLAG = 2;

/** A decision of the operator, as in `Status:On leave=inactive`. */
export interface StateRule {
  /** The heading and the value, as in `Status:On leave`. The value `*` stands for every other value. */
  readonly text: string;
  readonly state: AccountState;
}

export interface StateColumn {
  readonly at: number;
  readonly heading: string;
  readonly kind: StateKind;
  readonly decided: ReadonlyMap<string, AccountState>;
}

export interface ColumnValue {
  readonly column: string;
  readonly value: string;
}

export interface Account {
  /** The value that shows that the account is inactive; undefined if there is none. */
  readonly off: ColumnValue | undefined;
  /** The values that import does not know. Empty if the account is inactive. */
  readonly unknown: readonly ColumnValue[];
}

export const ACTIVE: Account = { off: undefined, unknown: [] };

/** Finds the columns about the state of accounts. A file may have several, and each can switch an account off. */
export function stateColumns(fields: readonly string[], rules: readonly StateRule[]): readonly StateColumn[] {
  return fields.flatMap((field, at) => {
    const heading = field.trim();
    const own = rules.filter((rule) => isAbout(rule, heading));
    const kind = kindOf(heading) ?? (own.length > 0 ? 'status' : undefined);
    const decided = new Map(own.map(({ text, state }) => [keyOf(text.slice(heading.length + 1)), state]));
    return kind === undefined ? [] : { at, heading, kind, decided };
  });
}

export const isAbout = ({ text }: StateRule, heading: string): boolean =>
  heading.trim() !== '' && keyOf(text).startsWith(`${keyOf(heading)}:`);

const keyOf = (text: string): string => text.trim().toLowerCase();

function kindOf(heading: string): StateKind | undefined {
  const spellings = spellingsOf(heading).flatMap((plain) => [plain, plain.replace(PREFIX, '')]);
  const kinds = Object.keys(STATE_SPELLINGS) as StateKind[];
  return kinds.find((kind) => STATE_SPELLINGS[kind].some((usual) => spellings.includes(usual)));
}

/**
 * Returns the state of the account of a row. One inactive column decides. Empty values are ignored.
 * @param today the date (UTC), as 2026-11-20. An account is inactive from the day after its end date
 */
export function accountStateOf(
  columns: readonly StateColumn[],
  field: (at: number) => string,
  today: string,
): Account {
  const judged = columns.map((column) => judge(column, field(column.at), today));
  const off = judged.find(({ state }) => state === 'inactive');
  return { off, unknown: off === undefined ? judged.filter(({ state }) => state === undefined) : [] };
}

interface Judged extends ColumnValue {
  readonly state: AccountState | undefined;
}

function judge({ heading: column, kind, decided }: StateColumn, value: string, today: string): Judged {
  const own = decided.get(keyOf(value));
  if (own !== undefined) return { state: own, column, value };
  const other = decided.get('*');
  if (other !== undefined) return { state: other, column, value: '*' };
  const plain = plainHeading(value);
  if (plain === '') return { state: 'active', column, value };
  if (kind !== 'end date') return { state: stateOf(kind, plain), column, value };
  const state = NO_DATE.has(plain) ? 'active' : stateAt(value, today);
  return { state, column, value: state === undefined ? value : 'past date' };
}

function stateOf(kind: StateKind, plain: string): AccountState | undefined {
  if (kind === 'control flags' && /^\d+$/.test(plain))
    return (Number(plain) & DISABLED_FLAG) === 0 ? 'active' : 'inactive';
  if (STATES.active.has(plain)) return 'active';
  if (STATES.inactive.has(plain)) return 'inactive';
  const isOff = kind === 'switched off';
  if (YES.has(plain)) return isOff ? 'inactive' : 'active';
  if (NO.has(plain)) return isOff ? 'active' : 'inactive';
  return undefined;
}

/** Returns undefined if the text is no date, or if the order of day and month decides. */
function stateAt(text: string, today: string): AccountState | undefined {
  const states = new Set(datesOf(text).map((date) => (date < today ? 'inactive' : 'active')));
  return states.size === 1 ? [...states][0] : undefined;
}

function datesOf(text: string): readonly string[] {
  const [, year, , month, day] = /^(\d{4})([-/.]?)(\d\d)\2(\d\d)(?!\d)/.exec(text) ?? [];
  if (year !== undefined) return dateOf(year, month, day);
  const [, first, sign, second, last] = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)/.exec(text) ?? [];
  const dayFirst = dateOf(last, second, first);
  return sign === '.' ? dayFirst : [...dayFirst, ...dateOf(last, first, second)];
}

function dateOf(year = '', month = '', day = ''): readonly string[] {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return Number.isNaN(Date.parse(`${date}T00:00:00Z`)) ? [] : [date];
}
