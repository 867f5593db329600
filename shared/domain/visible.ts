const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Whether the text has at least one visible character. Zero-width characters are invisible. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);
