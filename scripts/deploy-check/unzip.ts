import { inflateRawSync } from 'node:zlib';

const STORED = 0;

/** Returns the files of a zip file by name (PKWARE APPNOTE, 4.3.12 and 4.3.16). Zip comments are not supported. */
export function filesOf(zip: Buffer): ReadonlyMap<string, Buffer> {
  const end = zip.length - 22;
  const count = zip.readUInt16LE(end + 10);
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let read = 0; read < count; read += 1) {
    const method = zip.readUInt16LE(at + 10);
    const size = zip.readUInt32LE(at + 20);
    const nameLength = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const content = zip.subarray(begin, begin + size);
    files.set(name, method === STORED ? content : inflateRawSync(content));
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}
