import * as z from 'zod';

/*
 * Imported first by every function: what a new worker need not do before it has answered its first event.
 *
 * Schemas read this when they are made. zod would compile each object schema at its first use; a worker reads few
 * documents of each kind in its life, so that costs more than it gives. It also keeps `new Function` out of the functions.
 * And it would look for values that contain themselves; JSON and items of DynamoDB never do.
 */
const memoizer: z.core.$ZodMemoizer = { attach() {}, guard() {}, alloc: (_schema, _input, empty) => empty };
z.config({ jitless: true, memoizer });
