import type { Attribute } from './attribute.ts';

const WIDE_OR_NARROW = /[\u3000\uff01-\uffee]/g;

/** PRECIS UsernameCaseMapped (RFC 8265 section 3.3): width, then case, then composition. */
const foldUserName = (text: string): string =>
  text
    .replace(WIDE_OR_NARROW, (character) => character.normalize('NFKC'))
    .toLowerCase()
    .normalize('NFC');

/** The form in which two texts of an attribute are the same or not (RFC 7644 sections 3.4.2.2 and 5). */
export function folded({ name, caseExact }: Pick<Attribute, 'name' | 'caseExact'>, text: string): string {
  if (name === 'userName') return foldUserName(text);
  return caseExact ? text : text.toLowerCase();
}

/** What a unique text is found by: its folded form, then those in which earlier versions may have kept it. */
export function uniqueForms(name: string, text: string): readonly [string, ...string[]] {
  const form = folded({ name, caseExact: false }, text);
  const earlier = new Set([text.toLowerCase(), form.normalize('NFD')]);
  earlier.delete(form);
  return name === 'userName' ? [form, ...earlier] : [form];
}
