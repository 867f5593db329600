import { CUSTOM_PREFIX } from '../../contract/exclusion.ts';

export type FileColumn =
  | 'group id'
  | 'group'
  | 'group name'
  | 'member id'
  | 'id'
  | 'login'
  | 'email'
  | 'type';

export const wordsIn = (...lines: readonly string[]) => lines.flatMap((line) => line.split(' '));

export interface Heading {
  readonly column: FileColumn;
  /**
   * How certain it is that the heading means this column; 0 is the most certain. If several headings mean the same
   * column, only the heading with the lowest rank is used.
   */
  readonly rank: number;
}

/**
 * Usual headings of each column, without case, spaces and punctuation, grouped by rank. Sources: Google Workspace
 * (download of members, bulk template), GAM (`print group-members`), Entra ID (bulk files, portal), Okta (group
 * membership report), Active Directory and Exchange (PowerShell), JumpCloud, OneLogin, PingOne, Workday.
 */
export const SPELLINGS: Readonly<Record<FileColumn, readonly (readonly string[])[]>> = {
  'group id': [
    ['groupid', 'groupidentifier', 'groupexternalid', 'groupobjectid', 'groupuniqueid', 'oktagroupid'],
    ['groupemail', 'groupemailaddress', 'groupmail', 'groupkey'],
  ],
  group: [['group']],
  'group name': [['groupname', 'groupdisplayname', 'groupdisplay', 'grouptitle', 'oktagroupname']],
  'member id': [
    wordsIn(
      'memberid userid personid memberexternalid memberobjectid userobjectid oktauserid',
      'memberuniqueid objectid',
    ),
    ['memberobjectidorupn', 'memberobjectidoruserprincipalname', 'memberkey'],
    // Under these headings, some files have ids or addresses, and other files have names.
    ['member', 'user'],
  ],
  id: [['id'], ['objectguid']],
  login: [
    ['userprincipalname', 'upn', 'memberupn', 'memberuserprincipalname', 'memberlogin', 'oktausername'],
    ['username', 'login', 'userlogin', 'loginname', 'signinname', 'memberusername', 'samaccountname'],
  ],
  email: [
    ['memberemail', 'membermail', 'memberemailaddress'],
    wordsIn(
      'email emailaddress mail useremail usermail useremailaddress primaryemail primaryemailaddress',
      'emailprimarywork workemail workemailaddress primarysmtpaddress',
    ),
  ],
  type: [['membertype', 'objecttype', 'objectclass'], ['type']],
};

export function readHeading(field: string): Heading | undefined {
  for (const spelling of spellingsOf(field)) {
    for (const [column, ranks] of Object.entries(SPELLINGS)) {
      const rank = ranks.findIndex((words) => words.includes(spelling));
      if (rank >= 0) return { column: column as FileColumn, rank };
    }
  }
  return undefined;
}

/** Returns the attribute of these that a heading means: `Department`, `Employee number`, or `User type` for `type`. */
export function attributeOf(field: string, named: readonly string[]): string | undefined {
  const heading = (name: string) =>
    name === 'type' ? 'usertype' : plainHeading(name.replace(CUSTOM_PREFIX, ''));
  return named.find((name) => spellingsOf(field).includes(heading(name)));
}

/** Returns the texts outside and inside brackets, as in "Member object ID or UPN [memberObjectIdOrUpn] Required". */
export function spellingsOf(field: string): readonly string[] {
  const inside = /\[([^\]]*)\]/.exec(field)?.[1] ?? '';
  const outside = field.replace(/\[[^\]]*\]/g, '').replace(/\b(?:required|optional)\b\W*$/i, '');
  return [inside, outside].map(plainHeading).filter((text) => text !== '');
}

export const plainHeading = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
