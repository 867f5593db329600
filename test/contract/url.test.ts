import { expect, it } from 'vitest';
import { isInternalUrl } from '../../shared/contract/url.ts';

it.each([
  ...['127.0.0.1', '0x7f.1', '2130706433', '169.254.169.254', '169.254.169.254.', '10.1.2.3', '172.31.255.1'],
  ...['192.168.1.1', '100.64.0.1', '192.0.0.192', '198.18.0.1', '224.0.0.1', '255.255.255.255', '0.0.0.0'],
  ...['[::1]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', '[fd00:ec2::254]'],
  ...[
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    'localhost',
    'metadata.google.internal',
    'printer.local.',
    'instance-data',
  ],
])('%s is an internal address', (host) => {
  expect(isInternalUrl(`https://${host}/`)).toBe(true);
});

it.each([
  'platform.example',
  '8.8.8.8',
  '100.128.0.1',
  '172.32.0.1',
  '11.0.0.1',
  '10.acme.test',
  'localhost.acme.test',
  '[2606:4700::1111]',
  'local.example',
  'fe80.example',
])('%s is a public address', (host) => {
  expect(isInternalUrl(`https://${host}/`)).toBe(false);
});
