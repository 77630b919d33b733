/** One entry of a tar file, as hostile as its fields. */
export interface TarEntry {
  readonly name: string;
  /** `0` file, `5` directory, and so on. Default `0`. */
  readonly type?: string;
  readonly content?: string | Uint8Array;
  /** What the header says about the size; default the truth. */
  readonly size?: string;
  readonly link?: string;
  readonly prefix?: string;
  readonly checksum?: string;
}

const BLOCK = 512;

/** A tar file of these entries, without a check of anything. */
export function tar(entries: readonly TarEntry[], end = true): Buffer {
  return Buffer.concat([...entries.map(entryBytes), ...(end ? [Buffer.alloc(2 * BLOCK)] : [])]);
}

/** The record of an extended header: `27 path=../../etc/passwd\n`, its length included. */
export function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length;
  return `${length}${rest}`;
}

function entryBytes({ name, type = '0', content = '', size, link = '', prefix = '', checksum }: TarEntry): Buffer {
  const bytes = Buffer.from(content as string);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'utf8');
  header.write('0000644\0', 100);
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1');
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156, 1, 'latin1');
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345, 155, 'utf8');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
  return Buffer.concat([header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]);
}
