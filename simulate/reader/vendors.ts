import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import { entraSource } from './entra.ts';
import { googleSource } from './google.ts';
import { oktaSource } from './okta.ts';
import type { SourceVendor } from './vendor.ts';

const VENDORS: { readonly [Kind in DirectoryKind]: SourceVendor<Kind> } = {
  google: googleSource,
  entra: entraSource,
  okta: oktaSource,
};

export const sourceVendorOf = (kind: DirectoryKind) => VENDORS[kind] as SourceVendor<DirectoryKind>;
