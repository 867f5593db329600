import { frozenNames, joined, productNames, without, writeFrozen } from './names.ts';

/** `npm run names:add` adds the public names of the product that public-names.json lacks. It removes no name. */
const print = (line: string) => process.stdout.write(`${line}\n`);
const before = frozenNames();
const now = await productNames();
const added = without(now, before);
writeFrozen(joined(before, now));
for (const line of added) print(`added    ${line}`);
for (const line of without(before, now)) print(`no longer in the product  ${line}`);
print(`${added.length} names added to test/architecture/public-names.json`);
