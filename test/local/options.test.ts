import { expect, it } from 'vitest';
import { parseOptions } from '../../local/options.ts';
import { UsageError } from '../../local/usage.ts';

it('options of npm start have the documented defaults', () => {
  expect(parseOptions([])).toEqual({
    once: false,
    timeout: 120,
    events: undefined,
    world: undefined,
    empty: false,
    plain: false,
    setting: [],
    awsPort: 0,
    sqsPort: 0,
    platformPort: 0,
    peopleEvery: 60,
    reconcileEvery: 60,
    sweepEvery: 300,
    pumpEvery: 2,
    data: undefined,
    json: false,
    console: true,
    consoleLogin: false,
    localFile: '.groupsync/local.json',
  });
});

it('npm start --once has its own local file if no option names a file', () => {
  expect(parseOptions(['--once'])).toMatchObject({ localFile: `.groupsync/once-${process.pid}.json` });
  expect(parseOptions(['--once', '--local-file', 'l'])).toMatchObject({ localFile: 'l' });
});

it('npm start reads the value of a setting as JSON, or as text if the value is not valid JSON', () => {
  const args = ['--setting', 'guard=null', '--setting', 'mode=report', '--setting', 'match=["a=b"]'];
  expect(parseOptions([...args, '--setting', 'nameTemplate={name} = {id}'])).toMatchObject({
    setting: [
      ['guard', null],
      ['mode', 'report'],
      ['match', ['a=b']],
      ['nameTemplate', '{name} = {id}'],
    ],
  });
});

it.each([
  [['--onc'], /unknown option '--onc'.*--once/],
  [['file'], /too many arguments/],
  [['--events'], /argument missing/],
  [['--timeout', 'soon'], /--timeout.*seconds/],
  [['--timeout', '0'], /--timeout.*seconds/],
  [['--sqs-port', '65536'], /--sqs-port.*port/],
  [['--setting', 'guard'], /--setting.*KEY=VALUE/],
  [['--empty', '--events', 'a'], /exclude each other/],
])('npm start refuses the arguments %j with an error of one line', (args, says) => {
  const parse = () => parseOptions(args);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(says);
  expect(parse).not.toThrow(/\n/);
});
