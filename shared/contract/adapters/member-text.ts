/** Enough to tell an address from a login name, a display name or Okta's "unknown"; not a judgement of its validity. */
const looksLikeEmail = (text: string): boolean => {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && at < text.length - 1 && !/\s/.test(text);
};

/**
 * Attributes from the one text by which a format names a member: Okta's `alternateId`, SCIM's `display`. Either may be
 * a login that is an address (then it serves as both), another login, or a person's name.
 */
export function attributesOfLogin(login: string): Readonly<Record<string, string>> {
  return looksLikeEmail(login) ? { userName: login, email: login } : { userName: login };
}

export function attributesOfDisplay(display: string): Readonly<Record<string, string>> {
  return looksLikeEmail(display) ? attributesOfLogin(display) : { name: display };
}
