import type { FastifyRequest } from 'fastify';
import { forbidden } from '../errors.ts';

type Headers = FastifyRequest['headers'];

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * A web page can make a browser send requests to this port in two ways. A host name that resolves to 127.0.0.1 (DNS
 * rebinding) is visible in the Host header. A page that uses the address itself is visible in the Origin header.
 * @throws {ApiError} 403 if the Host header is not loopback
 */
export function refuseForeignHost(request: FastifyRequest): void {
  if (!isOurHost(request.headers)) throw forbidden('expected a Host header of 127.0.0.1, localhost or [::1]');
}

export const isOurHost = ({ host = '' }: Headers): boolean =>
  LOOPBACK_HOSTS.has(host.toLowerCase().replace(/:\d+$/, ''));
export const isOurPage = ({ host, origin }: Headers): boolean =>
  origin === undefined || origin === `http://${host}`;

/**
 * Refuses other machines and web pages of another origin, because the test controls need no token.
 * @throws {ApiError} 403 for any other client
 */
export function refuseOutsiders(request: FastifyRequest): void {
  if (!isLoopback(request.socket.remoteAddress)) {
    throw forbidden('the test controls answer only on the loopback interface');
  }
  if (!isOurPage(request.headers)) throw forbidden('the test controls refuse pages of another origin');
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}
