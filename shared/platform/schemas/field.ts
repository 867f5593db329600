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
export const CalendarDate = z.lazy(() => z.iso.date());

/** An RFC 3339 time with its UTC offset. */
export const OffsetTime = z.lazy(() => z.iso.datetime({ offset: true }));

/** More is not advised (Workforce Platform API, Limits). */
export const MAX_PAGE_SIZE = 100;

/** Where a list begins and how large its pages are: `limit` items a page (1 to 100, default 100), after `offset`. */
export const PageQuery = z.lazy(() =>
  z.strictObject({
    limit: z.int().check(z.gte(1), z.lte(MAX_PAGE_SIZE)).default(MAX_PAGE_SIZE),
    offset: z.int().min(0).default(0),
  }),
);
export type PageQuery = z.input<typeof PageQuery>;

/** Tax location codes of an address (Workforce Platform API, Address). */
const LocationCode = z.lazy(() =>
  z.object({
    locationCode: text,
    stateCode: text,
    countyCode: text,
    cityCode: text,
    schoolCode: text,
    municipalityCode: text,
    psdCode: text,
    transitDistrictCode: text,
    isOverridden: text,
  }),
);

/** Workforce Platform API, Address. The whole may be null if it is used. */
export const Address = z.lazy(() =>
  z.object({
    streetLine1: text,
    streetLine2: text,
    zip: text,
    city: text,
    state: text,
    country: text,
    phone: text,
    isRemote: flag,
    steLocationCode: LocationCode.nullish(),
  }),
);
