import type { DirectoryStepRow } from '../../../contract/answers/directory.ts';
import type { DirectoryKind, DirectorySetting } from '../../../contract/settings.ts';
import { entraGuide } from './entra.ts';
import { googleGuide } from './google.ts';
import type { Guide } from './guide.ts';
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

export const connectOptionsOf = (setting: DirectorySetting): string => guideOf(setting).optionsOf(setting);

export function fixOfStep(failed: DirectoryStepRow, setting: DirectorySetting, connection: string): string {
  const guide = guideOf(setting);
  return failed.retries ? guide.fixOfBusy(failed.reason) : guide.fixOf(failed, setting, connection);
}
