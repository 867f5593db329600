import * as z from 'zod';

/*
 * The specification names these fields but does not guarantee them. For example, a credential without the scope does
 * not get them. Null can mean "none" in more fields than the specification lists. An absent field stays absent, because
 * it does not mean "empty".
 */
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const amount = z.number().nullish();

/** A known value, or a value that the platform added after the specification. A new value is not an error. */
type Open<Known extends string> = Known | (string & {});

/** An enumeration that accepts every string. The known values are only for types and documentation. */
export function openEnum<const Known extends string>(known: readonly Known[]): z.ZodType<Open<Known>> {
  return z.string().meta({ examples: [...known] }) as unknown as z.ZodType<Open<Known>>;
}

export const CalendarDate = z.lazy(() => z.iso.date());

export const OffsetTime = z.lazy(() => z.iso.datetime({ offset: true }));

/** The platform advises against larger pages (Workforce Platform API, Limits). */
const MAX_PAGE_SIZE = 100;

/** The part of a list to read: pages of `limit` items (1 to 100, default 100), beginning after `offset` items. */
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
