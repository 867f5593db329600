import { shellWord } from '../../names.ts';
import { connectCommand, type Guide } from './guide.ts';

const PAGE = 'docs/directory-simulator.md';

export const oktaGuide: Guide<'okta'> = {
  page: PAGE,

  optionsOf({ orgUrl, clientId, keyArn }) {
    const application = clientId === undefined ? '' : ` --client-id ${shellWord(clientId)}`;
    const stored = clientId === undefined ? '--secret-stdin' : '--key key.json';
    const credential = keyArn === undefined ? stored : `--key-arn ${shellWord(keyArn)}`;
    return `okta --directory-url ${shellWord(orgUrl)}${application} ${credential}`;
  },

  fixOf: (_, setting, connection) => connectCommand(connection, oktaGuide.optionsOf(setting)),
  fixOfBusy: () => 'wait a few minutes: Okta limits calls or is not available',
};
