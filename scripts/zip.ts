import { crc32, deflateRawSync } from 'node:zlib';

/** 1 January 1980, the first date of the format. The date is fixed, so that equal content gives equal bytes. */
const DATE = 0x21;
/** Version 2.0 of the format, which has deflate (PKWARE APPNOTE, 4.4.3). */
const VERSION = 20;
const DEFLATE = 8;
/** The mode of a regular file that all users may read, as Lambda requires. */
const MODE = 0o100_644 * 0x1_00_00;
const MADE_ON_UNIX = 3 * 0x1_00;

/** Returns a zip file with one file (PKWARE APPNOTE, 4.3). The size of the content must be below 4 GiB. */
export function zipOf(name: string, content: Buffer): Buffer {
  const title = Buffer.from(name);
  const packed = deflateRawSync(content, { level: 9 });
  const common = Buffer.alloc(26);
  common.writeUInt16LE(VERSION, 0);
  common.writeUInt16LE(DEFLATE, 4);
  common.writeUInt16LE(DATE, 8);
  common.writeUInt32LE(crc32(content), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(title.length, 22);
  const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, title, packed]);
  const more = Buffer.alloc(14);
  more.writeUInt32LE(MODE, 6);
  const made = Buffer.alloc(2);
  made.writeUInt16LE(MADE_ON_UNIX + VERSION, 0);
  const central = Buffer.concat([Buffer.from('PK\u0001\u0002'), made, common, more, title]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from('PK\u0005\u0006'), end]);
}
