import { readEnvironment } from '../environment.js';
import { type BaseLayout, layoutOf } from './base-layout.js';
import { headerLength, parseSafetensorsHeader } from './safetensors/safetensors-reader.js';
import { weightsError } from './weights-error.js';

/** How to reach a hub of models. */
export interface HubOptions {
  /** Default `https://huggingface.co`. */
  readonly url?: string | undefined;
  /** For models that are not public. Default `HF_TOKEN`. */
  readonly token?: string | undefined;
  /** A branch, tag or commit. Default `main`. */
  readonly revision?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the requests. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_HUB = 'https://huggingface.co';
/** Enough for the header of most files in one request. */
const FIRST_BYTES = 65_536;

/** The layout of a model on the hub, from its configuration, its index and the headers of the files that are asked about. */
export async function hubBaseLayout(model: string, options: HubOptions = {}): Promise<BaseLayout> {
  const { revision = 'main', url = DEFAULT_HUB } = options;
  const fileUrl = (file: string): string => `${url.replace(/\/$/, '')}/${model}/resolve/${encodeURIComponent(revision)}/${file}`;
  const config = await requireJson(fileUrl('config.json'), options);
  const index = await fetchJson(fileUrl('model.safetensors.index.json'), options);
  if (index === undefined) return layoutOf(config, await hubShapes(fileUrl('model.safetensors'), options));
  const fileOf = index['weight_map'] as Record<string, string>;
  const known = new Map<string, Promise<ReadonlyMap<string, readonly number[]>>>();
  return {
    config,
    keys: new Set(Object.keys(fileOf)),
    async shapeOf(key) {
      const file = fileOf[key];
      if (file === undefined) return [];
      const shapes = known.get(file) ?? hubShapes(fileUrl(file), options);
      known.set(file, shapes);
      return (await shapes).get(key) ?? [];
    },
  };
}

async function hubShapes(url: string, options: HubOptions): Promise<ReadonlyMap<string, readonly number[]>> {
  const first = await fetchBytes(url, options, FIRST_BYTES);
  if (first === undefined) throw weightsError(url, 'the hub has no such file.');
  const length = headerLength(url, first);
  const bytes = first.byteLength >= 8 + length ? first : await fetchBytes(url, options, 8 + length);
  const { tensors } = parseSafetensorsHeader(url, (bytes as Uint8Array).subarray(8, 8 + length));
  return new Map([...tensors.values()].map(({ name, shape }) => [name, shape]));
}

async function requireJson(url: string, options: HubOptions): Promise<Record<string, unknown>> {
  const found = await fetchJson(url, options);
  if (found === undefined) throw weightsError(url, 'the hub has no such file. Pass base: the folder of a local copy.');
  return found;
}

async function fetchJson(url: string, options: HubOptions): Promise<Record<string, unknown> | undefined> {
  const bytes = await fetchBytes(url, options);
  return bytes === undefined ? undefined : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>);
}

/** The content of a file or its first bytes; undefined when there is no such file. */
async function fetchBytes(
  url: string,
  { token = readEnvironment().hubToken, signal, fetch = globalThis.fetch }: HubOptions,
  count?: number,
): Promise<Uint8Array | undefined> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(count === undefined ? {} : { range: `bytes=0-${count - 1}` }),
  };
  const response = await fetch(url, { headers, signal: signal ?? null });
  if (response.status === 404) return undefined;
  if (!response.ok) {
    await response.body?.cancel();
    throw weightsError(url, `the hub answered with status ${response.status}. Pass hub: { token }, or base: the folder of a local copy.`);
  }
  return await firstBytes(response, count);
}

/** A server that ignores the range sends everything; only the start is read. */
async function firstBytes(response: Response, count = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  let length = 0;
  for await (const block of response.body ?? []) {
    blocks.push(block);
    length += block.byteLength;
    if (length >= count) break;
  }
  return Buffer.concat(blocks).subarray(0, Math.min(count, length));
}
