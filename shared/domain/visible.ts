const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Returns whether a person can see at least one character of the text. Zero-width characters are invisible. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);
