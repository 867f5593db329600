import { frozenNames, joined, productNames, without, writeFrozen } from './names.ts';

/** `npm run names:add` adds public names that the list lacks. It removes no name. */
const print = (line: string) => process.stdout.write(`${line}\n`);
const before = frozenNames();
const now = await productNames();
const added = without(now, before);
writeFrozen(joined(before, now));
for (const line of added) print(`added    ${line}`);
for (const line of without(before, now)) print(`missing  ${line}`);
print(`${added.length} names added to test/architecture/public-names.json`);
