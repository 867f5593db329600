import { expect, it } from 'vitest';
import { parseSecureUrl } from '../../shared/platform/base-url.ts';

it.each([
  ['https://api.acme.test', { origin: 'https://api.acme.test', path: '' }],
  ['https://api.acme.test/hr//', { origin: 'https://api.acme.test', path: '/hr' }],
  ['http://127.0.0.1:8080/', { origin: 'http://127.0.0.1:8080', path: '' }],
  ['http://localhost:1', { origin: 'http://localhost:1', path: '' }],
  ['http://[::1]:1', { origin: 'http://[::1]:1', path: '' }],
])('parseSecureUrl accepts the URL %s', (text, expected) => {
  expect(parseSecureUrl(text, 'baseUrl')).toEqual(expected);
});

it.each([
  ['text that is not a URL', 'api.acme.test', 'absolute https URL'],
  ['http to another machine', 'http://api.acme.test', 'expected https'],
  ['http to a name that begins like loopback', 'http://127.0.0.1.evil.test', 'expected https'],
  ['http to a private address', 'http://10.0.0.1', 'expected https'],
  ['a scheme other than http and https', 'file:///etc/passwd', 'expected https'],
  ['a password', 'https://user:hunter2@api.acme.test', 'no user or password'],
  ['a query', 'https://api.acme.test/?key=hunter2', 'no query'],
  ['an empty fragment', 'https://api.acme.test/#', 'no query or fragment'],
])('parseSecureUrl refuses %s, with an error that does not contain the URL', (_, text, message) => {
  const refuse = () => parseSecureUrl(text, 'baseUrl');
  expect(refuse).toThrow(message);
  expect(refuse).not.toThrow('hunter2');
});

it.each(['https://169.254.169.254', 'https://2852039166/latest', 'http://127.0.0.1:8080', 'https://[::1]'])(
  'parseSecureUrl refuses the internal address %s in a deployed function',
  (text) => {
    expect(() => parseSecureUrl(text, 'baseUrl', true)).toThrow('expected a public address');
  },
);

it('parseSecureUrl accepts a public address in a deployed function', () => {
  expect(parseSecureUrl('https://172.32.0.1', 'baseUrl', true).origin).toBe('https://172.32.0.1');
});
