import { expect, it } from 'vitest';
import { billOfMaterials } from '../../scripts/cyclonedx.ts';

it('the bill of materials lists each package with its package URL, licence and checksum', () => {
  const integrity = `sha512-${Buffer.from('ab', 'hex').toString('base64')}`;
  const components = [
    { name: '@scope/a', version: '1.2.3', license: 'MIT', integrity },
    { name: 'b', version: '2.0.0', license: '(MIT OR Apache-2.0)', integrity: undefined },
  ];
  const bill = billOfMaterials({ name: 'groupsync', version: '0.1.0' }, components);
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
  expect(bill.metadata.component).toMatchObject({ type: 'application', purl: 'pkg:npm/groupsync@0.1.0' });
  expect(bill.components).toEqual([
    {
      type: 'library',
      'bom-ref': 'pkg:npm/%40scope/a@1.2.3',
      name: '@scope/a',
      version: '1.2.3',
      purl: 'pkg:npm/%40scope/a@1.2.3',
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: 'ab' }],
    },
    expect.objectContaining({ licenses: [{ expression: '(MIT OR Apache-2.0)' }] }),
  ]);
  expect(bill.components[1]).not.toHaveProperty('hashes');
});
