import * as z from 'zod';

/*
 * Imported before anything that has schemas, which look at this when they are made. zod would compile each object schema
 * at its first use; a worker reads few documents of each kind in its life, so that costs more than it gives. It also keeps
 * `new Function` out of the functions.
 */
z.config({ jitless: true });
