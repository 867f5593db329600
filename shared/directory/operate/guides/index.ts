import type { DirectoryStepRow } from '../../../contract/answers/directory.ts';
import type { DirectoryKind, DirectoryOf, DirectorySetting } from '../../../contract/directory-settings.ts';
import { entraGuide } from './entra.ts';
import { googleGuide } from './google.ts';
import type { DescribedDirectory, DirectoryOptions, Guide } from './guide.ts';
import { oktaGuide } from './okta.ts';

const GUIDES: { readonly [Kind in DirectoryKind]: Guide<Kind> } = {
  google: googleGuide,
  entra: entraGuide,
  okta: oktaGuide,
};

const guideOf = <Kind extends DirectoryKind>({ kind }: { readonly kind: Kind }): Guide<Kind> => GUIDES[kind];

/** Returns the names of all vendors' setup documents, for a connection that reads no directory. */
export const guidePages = (): string =>
  Object.values(GUIDES)
    .map(({ page }) => page)
    .join(', ');

export const guidePageOf = (kind: DirectoryKind): string => GUIDES[kind].page;

/**
 * Returns the directory that the options describe, with missing options from the stored setting of the same account.
 * If a required option is missing or options exclude each other, returns what is expected.
 */
export function describeDirectory<Kind extends DirectoryKind>(
  kind: Kind,
  options: DirectoryOptions,
  stored: DirectorySetting | null,
): DescribedDirectory | { readonly expected: string } {
  const guide: Guide<Kind> = GUIDES[kind];
  const isOfKind = (one: DirectorySetting | null): one is DirectoryOf<Kind> => one?.kind === kind;
  return guide.describe(isOfKind(stored) ? guide.withStored(options, stored) : options) ?? guide;
}

export const connectOptionsOf = (setting: DirectorySetting): string => guideOf(setting).optionsOf(setting);

export function fixOfStep(failed: DirectoryStepRow, setting: DirectorySetting, connection: string): string {
  const guide = guideOf(setting);
  return failed.retries ? guide.fixOfBusy(failed.reason) : guide.fixOf(failed, setting, connection);
}
