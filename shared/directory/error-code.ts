import * as z from 'zod';

/**
 * The code of an error in an answer. Messages, logs and the stored problem show this code. Text that is not a code is
 * refused, because it could contain names or addresses.
 */
export const ErrorCode = z.string().regex(/^[\w.-]{1,64}$/);
