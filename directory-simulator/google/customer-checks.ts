import type { Directory, Group, View } from '../engine/directory.ts';
import { badRequest, forbidden, notFound } from './errors.ts';

/**
 * Checks that a list of users or groups names this customer or its domain. @throws {DirectoryError} 400 if both
 * parameters are missing or the customer is unknown, 404 for an unknown domain
 */
export function refuseOtherCustomers(
  { customerId, domain: own }: Directory,
  { customer, domain }: { readonly customer?: string | undefined; readonly domain?: string | undefined },
): void {
  if (customer === undefined && domain === undefined) throw badRequest();
  if (customer !== undefined && customer !== 'my_customer' && customer !== customerId) throw badRequest();
  if (domain !== undefined && domain !== own) throw notFound('domain');
}

/** @throws {DirectoryError} 404 for a group that does not exist, 403 for an address of another domain */
export function groupByKey({ domain }: Directory, view: View, key: string): Group {
  const group = view.group(key);
  if (group !== undefined) return group;
  throw key.includes('@') && !key.endsWith(`@${domain}`) ? forbidden() : notFound('groupKey');
}
