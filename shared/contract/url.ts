/**
 * Returns the parsed URL; undefined if the text is no URL. The function does not use `URL.canParse`, because of a
 * defect in Node 20 and 22: after some thousand calls, `canParse` returns false for every URL with characters beyond
 * ASCII.
 */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Ranges that are not public (RFC 6890): this machine, private networks, carrier-grade NAT, link-local addresses,
 * protocol assignments, benchmarks, multicast and reserved addresses.
 */
const INTERNAL_V4 =
  /^(?:0|10|127|169\.254|192\.168|192\.0\.0|198\.1[89]|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|2[3-5]\d)(?:\.\d+){1,3}$/;
/**
 * Loopback, addresses that contain an IPv4 address (mapped, NAT64, 6to4), unique local, site-local and link-local
 * addresses, and multicast.
 */
const INTERNAL_V6 = /^\[(?:::|64:ff9b:|2002:|f[cd][0-9a-f]{2}:|fe[89a-f][0-9a-f]:|ff[0-9a-f]{2}:)/;
/** Names of this machine or of a private network. The resolver of the network completes a name without a dot. */
const INTERNAL_NAME = /(?:^|\.)(?:localhost|internal|local)\.?$|^[^.[\]]+\.?$/;

/**
 * Whether a URL points to this machine or into a private network. For a deployed function, such an address may belong
 * to the service with the function's credentials. The URL parser has already converted decimal, octal and hexadecimal
 * notations of an address to the usual notation.
 */
export const isInternalUrl = (text: string): boolean =>
  [INTERNAL_V4, INTERNAL_V6, INTERNAL_NAME].some((form) => form.test(new URL(text).hostname));
