/** A package and its licence, as stated in its package.json. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Checksum in the form of a lock file, `sha512-<base64>`. Undefined for a package inside another package. */
  readonly integrity: string | undefined;
}

/** Returns a bill of materials (CycloneDX 1.6, JSON) without date and serial number. Equal input gives equal bytes. */
export function billOfMaterials(
  application: { readonly name: string; readonly version: string },
  components: readonly Component[],
) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...application, purl: purlOf(application) } },
    components: components.map((component) => {
      const { name, version, license } = component;
      return {
        type: 'library',
        'bom-ref': purlOf(component),
        name,
        version,
        purl: purlOf(component),
        licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
        ...hashesOf(component),
      };
    }),
  };
}

/** Package URL (purl specification, type npm): the `@` of a scope is encoded. */
const purlOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

function hashesOf({ integrity }: Component): object {
  const [, base64] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  if (base64 === undefined) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] };
}
