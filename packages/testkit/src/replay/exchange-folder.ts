import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, type JsonValue } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import type { RecordedBody, RecordedExchange } from './exchange.js';
import { readableJson } from './readable-json.js';

const EXCHANGE_FILE = /^(\d+)-[\w-]+\.json$/;

/** The exact bytes of the bodies of an exchange that are not text. */
export interface ExchangeBytes {
  readonly request?: Uint8Array | undefined;
  readonly response?: Uint8Array | undefined;
}

/** A folder of recorded exchanges: one JSON file each, in the order in which the requests arrived, and bytes that are not text beside it. */
export class ExchangeFolder {
  readonly #dir: string;
  #last = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Every exchange, in order. An absent folder has none. Throws `ConfigurationError` for a file that is not an exchange. */
  async read(): Promise<RecordedExchange[]> {
    const names = await readdir(this.#dir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const numbered = names.flatMap((name) => {
      const number = EXCHANGE_FILE.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    });
    numbered.sort((left, right) => left.number - right.number);
    this.#last = numbered.at(-1)?.number ?? 0;
    return Promise.all(numbered.map(({ name }) => this.#readExchange(name)));
  }

  /** Reserves the number of an exchange, so that files are in the order of arrival. */
  nextNumber(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Writes an exchange under its number, with the names of its files. */
  async write(number: number, exchange: RecordedExchange, { request, response }: ExchangeBytes): Promise<void> {
    const name = `${String(number).padStart(4, '0')}-${exchange.route ?? 'unknown'}`;
    await mkdir(this.#dir, { recursive: true });
    const written: RecordedExchange = {
      ...exchange,
      request: { ...exchange.request, ...(await this.#writeBytes(`${name}.request.bin`, exchange.request.body, request)) },
      response: { ...exchange.response, ...(await this.#writeBytes(`${name}.response.bin`, exchange.response.body, response)) },
    };
    await writeFile(join(this.#dir, `${name}.json`), readableJson(written as unknown as JsonValue));
  }

  /** The bytes in a file of the folder. */
  readBytes(file: string): Promise<Uint8Array> {
    return readFile(join(this.#dir, file));
  }

  async #writeBytes(file: string, body: RecordedBody | undefined, bytes: Uint8Array | undefined): Promise<{ body?: RecordedBody }> {
    if (bytes === undefined) return {};
    await writeFile(join(this.#dir, file), bytes);
    return { body: { ...body, file } };
  }

  async #readExchange(name: string): Promise<RecordedExchange> {
    const path = join(this.#dir, name);
    try {
      return checked(parseJson(await readFile(path)));
    } catch (cause) {
      throw new ConfigurationError({ message: `${path} is not a recorded exchange. Restore or delete it.`, option: 'dir', cause });
    }
  }
}

/** Throws for JSON that is not an exchange. A name of a file must not lead out of the folder. */
function checked(json: JsonValue): RecordedExchange {
  const exchange = json as unknown as RecordedExchange;
  const { request, response } = exchange;
  const files = [request.body?.file, response.body?.file].filter((file) => file !== undefined);
  const isExchange = typeof request.method === 'string' && typeof request.target === 'string' && Number.isInteger(response.status);
  if (!isExchange || files.some((file) => !/^[\w.-]+$/.test(file))) throw new TypeError('The file is not an exchange.');
  return exchange;
}
