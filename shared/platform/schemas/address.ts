import * as z from 'zod';
import { flag, text } from './field.ts';

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

/** Workforce Platform API, Address. The whole may be null where it is used. */
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
