import * as z from 'zod';

/**
 * The code of an error in an answer. The code appears in messages and logs. Other text is refused, because it could
 * contain names or addresses.
 */
export const ErrorCode = z.string().regex(/^[\w.-]{1,64}$/);
