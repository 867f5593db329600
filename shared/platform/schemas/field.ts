import * as z from 'zod';

/*
 * Fields that the specification names without guaranteeing them: credentials' scopes leave them out, and null stands
 * for "none" in more places than the tables say. Absent stays absent, for absent never means empty.
 */
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const amount = z.number().nullish();

/** One of the values known, or one that the platform added since: new values are data, never errors. */
export type Open<Known extends string> = Known | (string & {});

/** An enumeration that stays open. The known values only serve types and documentation. */
export function openEnum<const Known extends string>(known: readonly Known[]): z.ZodType<Open<Known>> {
  return z.string().meta({ examples: [...known] }) as unknown as z.ZodType<Open<Known>>;
}

/** A date as the platform takes it: YYYY-MM-DD, a day of the calendar. */
export const CalendarDate = z.iso.date();

/** An RFC 3339 time with its UTC offset. */
export const OffsetTime = z.iso.datetime({ offset: true });
