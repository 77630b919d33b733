import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportPeft, hubBaseLayout, mergeAdapter, openSafetensors, publish, writeSafetensors } from '@tinkex/cookbook';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { dequantizeInt4, packInt4, quantizeInt4, unpackInt4 } from '../src/weights/quantization/int4.js';
import { dequantizeMxfp4, quantizeMxfp4 } from '../src/weights/quantization/mxfp4.js';
import { decodeFloats, encodeFloats, roundToBfloat16 } from '../src/weights/safetensors/float-values.js';
import { readTensors, type VectorTensor, writeAdapter, writeTensors } from './support/weight-files.js';

type Outcome<Value> = { readonly ok: Value } | { readonly error: string };

interface ExportCase {
  readonly name: string;
  readonly input: {
    readonly modelConfig: object;
    readonly modelShapes: Readonly<Record<string, readonly number[]>>;
    readonly adapterConfig: object;
    readonly adapter: Readonly<Record<string, VectorTensor>>;
  };
  readonly expected: Outcome<{
    readonly files: readonly string[];
    readonly config: object;
    readonly shapes: Readonly<Record<string, readonly number[]>>;
    readonly tensors: Readonly<Record<string, VectorTensor>>;
  }>;
}

interface MergeCase {
  readonly name: string;
  readonly input: {
    readonly modelConfig: object;
    readonly base: Readonly<Record<string, VectorTensor>>;
    readonly adapterConfig: object;
    readonly adapterCase: string;
  };
  readonly expected: Outcome<{
    readonly files: readonly string[];
    readonly changed: readonly string[];
    readonly merged: Readonly<Record<string, VectorTensor>>;
  }>;
}

const EXPORTS = readCookbookVectors<ExportCase>('peft-export');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tinkex-weights-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const zeros = (shape: readonly number[]): VectorTensor => ({
  shape,
  data: Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () => 0),
});

async function writeBase(config: object, tensors: Readonly<Record<string, VectorTensor>>): Promise<string> {
  const base = join(folder, 'base');
  await mkdir(base);
  await writeFile(join(base, 'config.json'), JSON.stringify(config));
  await writeFile(join(base, 'tokenizer.json'), '{}');
  await writeTensors(join(base, 'model.safetensors'), tensors);
  return base;
}

describe('exportPeft', () => {
  it.each(EXPORTS)('$name', async ({ input, expected }) => {
    const shapes = Object.entries(input.modelShapes).map(([name, shape]) => [name, zeros(shape)]);
    const base = await writeBase(input.modelConfig, Object.fromEntries(shapes) as Record<string, VectorTensor>);
    await writeAdapter(join(folder, 'adapter'), input.adapterConfig, input.adapter);
    const target = join(folder, 'peft');
    const exported = exportPeft(join(folder, 'adapter'), target, { base, baseModel: '<base_model argument>' });
    if ('error' in expected) {
      await expect(exported).rejects.toThrow();
      expect((await readdir(folder)).sort()).toEqual(['adapter', 'base']);
      return;
    }
    await exported;
    expect((await readdir(target)).sort()).toEqual(expected.ok.files);
    expect(JSON.parse(await readFile(join(target, 'adapter_config.json'), 'utf8'))).toEqual(expected.ok.config);
    const tensors = await readTensors(join(target, 'adapter_model.safetensors'));
    expect(Object.fromEntries(Object.entries(tensors).map(([name, { shape }]) => [name, shape]))).toEqual(expected.ok.shapes);
    for (const [name, tensor] of Object.entries(expected.ok.tensors)) expect(tensors[name]).toEqual(tensor);
    // What is not named there is copied unchanged.
    const given = Object.values(input.adapter).map(({ data }) => JSON.stringify(data));
    const copied = Object.keys(tensors).filter((name) => !name.includes('.experts.') && !name.includes('.in_proj.'));
    for (const name of copied) expect(given).toContain(JSON.stringify(tensors[name]?.data));
  });

  it('reads the layout from the headers of a model on the hub, with the token, without its weights', async () => {
    const { input } = EXPORTS.find(({ name }) => name.startsWith('nemotron: ')) as ExportCase;
    const shapes = Object.entries(input.modelShapes).map(([name, shape]) => [name, zeros(shape)]);
    const base = await writeBase(input.modelConfig, Object.fromEntries(shapes) as Record<string, VectorTensor>);
    const weightMap = Object.fromEntries(Object.keys(input.modelShapes).map((name) => [name, 'model.safetensors']));
    await writeFile(join(base, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
    const asked: string[] = [];
    const fetchFile: typeof fetch = async (url, init) => {
      const headers = new Headers(init?.headers);
      const name = String(url).split('/resolve/main/')[1] as string;
      asked.push(`${name} ${headers.get('range') ?? 'all'} ${headers.get('authorization')}`);
      return new Response(new Uint8Array(await readFile(join(base, name))));
    };
    await writeAdapter(join(folder, 'adapter'), input.adapterConfig, input.adapter);
    const hub = { url: 'https://hub.example', token: 'hf_x', fetch: fetchFile };
    const { targetModules } = await exportPeft(join(folder, 'adapter'), join(folder, 'peft'), { baseModel: 'org/model', hub });
    expect(targetModules).toContain('in_proj');
    expect(asked).toEqual([
      'config.json all Bearer hf_x',
      'model.safetensors.index.json all Bearer hf_x',
      'model.safetensors bytes=0-65535 Bearer hf_x',
    ]);
    await expect(hubBaseLayout('org/none', { fetch: async () => new Response(null, { status: 404 }) })).rejects.toThrow('Pass base');
  });

  it('refuses to replace a folder, and names what downloads a checkpoint', async () => {
    await expect(exportPeft('tinker://run/sampler_weights/final', join(folder, 'x'))).rejects.toThrow('createRestClient');
    const { input } = EXPORTS[0] as ExportCase;
    await writeAdapter(join(folder, 'adapter'), input.adapterConfig, input.adapter);
    const shapes = Object.entries(input.modelShapes).map(([name, shape]) => [name, zeros(shape)]);
    const base = await writeBase(input.modelConfig, Object.fromEntries(shapes) as Record<string, VectorTensor>);
    const rest = {
      downloadCheckpoint: (_: string, { directory }: { directory: string }) => writeAdapter(directory, input.adapterConfig, input.adapter),
    };
    const target = join(folder, 'peft');
    expect((await exportPeft('tinker://run/sampler_weights/final', target, { base, rest })).tensorCount).toBe(30);
    await expect(exportPeft(join(folder, 'adapter'), target, { base })).rejects.toThrow('exists already');
    expect((await readdir(folder)).sort()).toEqual(['adapter', 'base', 'peft']);
  });
});

describe('mergeAdapter', () => {
  it.each(readCookbookVectors<MergeCase>('lora-merge'))('$name', async ({ input, expected }) => {
    const base = await writeBase(input.modelConfig, input.base);
    const adapter = EXPORTS.find(({ name }) => name === input.adapterCase) as ExportCase;
    await writeAdapter(join(folder, 'adapter'), input.adapterConfig, adapter.input.adapter);
    const target = join(folder, 'merged');
    const merged = mergeAdapter(join(folder, 'adapter'), target, { base });
    if ('error' in expected) {
      await expect(merged).rejects.toThrow();
      expect((await readdir(folder)).sort()).toEqual(['adapter', 'base']);
      return;
    }
    expect((await merged).changedWeights).toEqual(expected.ok.changed);
    expect((await readdir(target)).sort()).toEqual(expected.ok.files);
    const tensors = await readTensors(join(target, 'model.safetensors'));
    for (const [name, { shape, data }] of Object.entries({ ...input.base, ...expected.ok.merged })) {
      expect(tensors[name]?.shape).toEqual(shape);
      tensors[name]?.data.forEach((value, index) => {
        expect(Math.abs(value - (data[index] as number))).toBeLessThanOrEqual(1e-5);
      });
    }
  });

  it('dequantizes, changes and quantizes int4 and mxfp4 weights', async () => {
    const values = Float32Array.from({ length: 2 * 64 }, (_, index) => ((index * 37) % 29) / 8 - 1.75);
    const int4 = quantizeInt4(values);
    const mxfp4 = quantizeMxfp4(values);
    const base = join(folder, 'base');
    await mkdir(base);
    await writeFile(join(base, 'config.json'), JSON.stringify({ architectures: ['GptOssForCausalLM'] }));
    const tensor = (name: string, dtype: string, shape: number[], bytes: Uint8Array) => ({ name, dtype, shape, bytes: async () => bytes });
    await writeSafetensors(join(base, 'model.safetensors'), [
      tensor('model.layers.0.self_attn.q_proj.weight_packed', 'I32', [2, 8], new Uint8Array(int4.packed.buffer)),
      tensor('model.layers.0.self_attn.q_proj.weight_scale', 'BF16', [2, 2], encodeFloats(int4.scale, 'BF16')),
      tensor('model.layers.0.mlp.experts.down_proj_blocks', 'U8', [2, 1, 2, 16], mxfp4.blocks),
      tensor('model.layers.0.mlp.experts.down_proj_scales', 'U8', [2, 1, 2], mxfp4.scales),
    ]);
    const factor = (shape: number[], value: number): VectorTensor => ({ shape, data: zeros(shape).data.map(() => value) });
    await writeAdapter(
      join(folder, 'adapter'),
      { r: 1, lora_alpha: 2 },
      {
        'base_model.model.model.layers.0.attn.q_proj.lora_A.weight': factor([1, 64], 1),
        'base_model.model.model.layers.0.attn.q_proj.lora_B.weight': factor([2, 1], 0.5),
        'base_model.model.model.layers.0.mlp.experts.w2.lora_A.weight': factor([2, 1, 64], 1),
        'base_model.model.model.layers.0.mlp.experts.w2.lora_B.weight': factor([2, 1, 1], 0.5),
      },
    );
    await mergeAdapter(join(folder, 'adapter'), join(folder, 'merged'), { base });
    await using file = await openSafetensors(join(folder, 'merged', 'model.safetensors'));
    const packed = new Int32Array((await file.read('model.layers.0.self_attn.q_proj.weight_packed')).buffer);
    const scale = decodeFloats(await file.read('model.layers.0.self_attn.q_proj.weight_scale'), 'BF16');
    const plusOne = (own: Float32Array): Float32Array => roundToBfloat16(own.map((value) => value + 1));
    expect({ packed, scale }).toEqual(quantizeInt4(plusOne(dequantizeInt4(int4))));
    const blocks = await file.read('model.layers.0.mlp.experts.down_proj_blocks');
    const scales = await file.read('model.layers.0.mlp.experts.down_proj_scales');
    expect({ blocks, scales }).toEqual(quantizeMxfp4(plusOne(dequantizeMxfp4(mxfp4))));
  });
});

describe('number formats', () => {
  interface NumericsCase {
    readonly fn: string;
    readonly input: unknown;
    readonly expected: unknown;
  }
  const flat = (rows: unknown): number[] => (rows as unknown[]).flat(2) as number[];
  const checks: Readonly<Record<string, (input: never, expected: never) => void>> = {
    bf16_merge: ({ base, delta }: { base: number[][]; delta: number[][] }, expected: number[][]) => {
      const sums = Float32Array.from(flat(base), (value, index) => value + Math.fround(flat(delta)[index] as number));
      expect([...roundToBfloat16(sums)]).toEqual(flat(expected));
    },
    pack_int4: (input: number[][], expected: { packed: number[][]; unpacked: number[][] }) => {
      expect([...packInt4(flat(input))]).toEqual(flat(expected.packed));
      expect([...unpackInt4(Int32Array.from(flat(expected.packed)))]).toEqual(flat(expected.unpacked));
    },
    quantize_int4_group: (input: { values: number[][]; groupSize: number }, expected: Record<string, number[][]>) => {
      const quantized = quantizeInt4(Float32Array.from(flat(input.values)), input.groupSize);
      expect([...quantized.packed]).toEqual(flat(expected['packed']));
      expect([...quantized.scale]).toEqual(flat(expected['scale']));
      expect([...dequantizeInt4(quantized, input.groupSize)].map((value) => value + 0)).toEqual(flat(expected['dequantized']));
    },
    quantize_mxfp4: (input: number[][], expected: Record<string, unknown>) => {
      const quantized = quantizeMxfp4(Float32Array.from(flat(input)));
      expect([...quantized.blocks]).toEqual(flat(expected['blocks']));
      expect([...quantized.scales]).toEqual(flat(expected['scales']));
      expect([...dequantizeMxfp4(quantized)].map((value) => value + 0)).toEqual(flat(expected['dequantized']));
    },
  };

  it.each(readCookbookVectors<NumericsCase>('weight-numerics'))('$fn', ({ fn, input, expected }) => {
    const check = checks[fn];
    expect(check).toBeDefined();
    check?.(input as never, expected as never);
  });

  it('keeps every half and bfloat16 value exactly', () => {
    for (const dtype of ['F16', 'BF16'] as const) {
      const all = Uint16Array.from({ length: 65_536 }, (_, index) => index);
      const values = decodeFloats(new Uint8Array(all.buffer), dtype);
      const again = new Uint16Array(encodeFloats(values, dtype).buffer);
      expect([...again].filter((bits, index) => bits !== index && !Number.isNaN(values[index]))).toEqual([]);
    }
  });

  it('rounds a float to the nearest half, ties to even', () => {
    const halves = decodeFloats(new Uint8Array(Uint16Array.from({ length: 0x7c00 }, (_, index) => index).buffer), 'F16');
    fc.assert(
      fc.property(fc.float({ min: 0, max: 65_504, noNaN: true }), (value) => {
        const rounded = decodeFloats(encodeFloats(Float32Array.of(value), 'F16'), 'F16')[0] as number;
        const at = halves.indexOf(rounded);
        for (const beside of [halves[at - 1], halves[at + 1]])
          if (beside !== undefined) expect(Math.abs(rounded - value)).toBeLessThanOrEqual(Math.abs(beside - value));
      }),
    );
  });
});

describe('safetensors files', () => {
  it('are read back as written, in blocks', async () => {
    const path = join(folder, 'x.safetensors');
    const bytes = new Uint8Array(9_000_000);
    bytes.set([7, 8, 9], 250);
    bytes.set([1, 2, 3], 8 * 1024 * 1024 - 1);
    await writeSafetensors(path, [{ name: 'large', dtype: 'U8', shape: [9_000_000], bytes: async () => bytes }], { metadata: { a: 'b' } });
    await using file = await openSafetensors(path);
    expect(file.metadata).toEqual({ a: 'b' });
    const blocks: Uint8Array[] = [];
    for await (const block of file.stream('large')) blocks.push(block);
    expect(blocks).toHaveLength(2);
    expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
    expect([...(await file.read('large', 250, 253))]).toEqual([7, 8, 9]);
  });

  it.each([
    ['is cut', (bytes: Uint8Array) => bytes.subarray(0, -1), 'incomplete or damaged'],
    ['ends in its header', (bytes: Uint8Array) => bytes.subarray(0, 20), 'ends inside its header'],
    ['is empty', () => new Uint8Array(), 'too short'],
    ['is something else', () => new TextEncoder().encode('PK\u0003\u0004 not a tensor file at all'), 'not a safetensors file'],
  ])('are refused when a file %s', async (_, damage, message) => {
    const path = join(folder, 'x.safetensors');
    await writeTensors(path, { a: { shape: [2], data: [1, 2] } });
    await writeFile(path, damage(await readFile(path)));
    await expect(openSafetensors(path)).rejects.toThrow(message);
  });

  it('leave nothing behind when writing fails', async () => {
    const failing = { name: 'a', dtype: 'F32', shape: [2], bytes: async () => new Uint8Array(4) };
    await expect(writeSafetensors(join(folder, 'x.safetensors'), [failing])).rejects.toThrow('4 bytes instead of 8');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('publish', () => {
  it('creates a private repository and uploads the folder in one commit', async () => {
    const requests: { readonly route: string; readonly body: string; readonly token: string | undefined }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const route = `${request.method} ${request.url}`;
        requests.push({ route, body: Buffer.concat(chunks).toString('utf8'), token: request.headers.authorization });
        response.setHeader('content-type', 'application/json');
        if (route.includes('/preupload/')) {
          const { files } = JSON.parse(requests.at(-1)?.body ?? '') as { files: { path: string }[] };
          response.end(JSON.stringify({ files: files.map(({ path }) => ({ path, uploadMode: 'regular', shouldIgnore: false })) }));
        } else if (route.includes('/commit/')) {
          response.end(JSON.stringify({ commitOid: 'abc', commitUrl: 'https://hub.example/commit/abc', hookOutput: '', success: true }));
        } else {
          // The repository exists already, which is fine.
          response.statusCode = 409;
          response.end(JSON.stringify({ error: 'exists' }));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const hubUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const model = join(folder, 'model');
      await mkdir(model);
      await writeFile(join(model, 'adapter_config.json'), '{}');
      const published = await publish(model, { repository: 'me/model', token: 'hf_secret', hubUrl });
      expect(published).toEqual({ repository: 'me/model', url: 'https://hub.example/commit/abc', fileCount: 1 });
    } finally {
      server.close();
    }
    expect(requests.map(({ route }) => route.replace(/\?.*/, ''))).toEqual([
      'POST /api/repos/create',
      'POST /api/models/me/model/preupload/main',
      'POST /api/models/me/model/commit/main',
    ]);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ name: 'model', organization: 'me', visibility: 'private' });
    expect(requests[2]?.body).toContain(Buffer.from('{}').toString('base64'));
    expect(new Set(requests.map(({ token }) => token))).toEqual(new Set(['Bearer hf_secret']));
  });

  it('refuses an empty folder and a missing token', async () => {
    await expect(publish(folder, { repository: 'me/model', token: 'hf_secret' })).rejects.toThrow('no files');
    const saved = process.env['HF_TOKEN'];
    delete process.env['HF_TOKEN'];
    try {
      await expect(publish(folder, { repository: 'me/model' })).rejects.toThrow('HF_TOKEN');
    } finally {
      if (saved !== undefined) process.env['HF_TOKEN'] = saved;
    }
  });
});
