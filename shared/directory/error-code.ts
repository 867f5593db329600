import * as z from 'zod';

/**
 * The code of an error in an answer. It becomes a part of messages, logs and the stored problem, so any other text is not
 * accepted: a proxy or a changed API could put names or addresses there.
 */
export const ErrorCode = z.string().regex(/^[\w.-]{1,64}$/);
