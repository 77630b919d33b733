import { createDecipheriv, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto';
import { describe, expect } from 'vitest';
import { startServer } from '../src/index.js';
import { rawTest } from './fixture.js';
import { RawClient } from './raw-client.js';

async function exportWeights(client: RawClient, modelId: string, seqId: number, extra: Record<string, unknown> = {}) {
  const body = { model_id: modelId, path: 'final', seq_id: seqId, type: 'save_weights_external', ...extra };
  const { json, status } = await client.post('save_weights_external', body);
  return status === 200 ? client.result(json.request_id, 'SaveWeightsExternal') : { status, json };
}

const urlsOf = (modelId: string, id = 'external_weights/final') => `training_runs/${modelId}/checkpoints/${id}/external_weights_urls`;

/** The path below the server's address, as the raw client wants it. */
const below = (url: string) => url.replace(/^http:\/\/[^/]+/, '');

describe('external weights', () => {
  rawTest('are files for other tools, each behind a signed URL that expires', async ({ clock }) => {
    await using server = await startServer({ clock });
    const raw = new RawClient(server);
    const modelId = await raw.createModel(await raw.createSession());
    const saved = await exportWeights(raw, modelId, 1, { ttl_seconds: 3_600 });
    expect(saved.json).toEqual({
      path: `tinker://${modelId}/external_weights/final`,
      size_bytes: expect.any(Number),
      type: 'save_weights_external',
    });
    const { json } = await raw.get(urlsOf(modelId));
    expect(Object.keys(json.urls)).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect(json.expires).toBe(new Date(clock.wallMs() + 15 * 60_000).toISOString());
    const files = [];
    for (const url of Object.values<string>(json.urls)) files.push(await raw.call('GET', below(url), { apiKey: '' }));
    expect(files.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(saved.json.size_bytes);
    expect(JSON.parse(files[0]?.text ?? '')).toMatchObject({ base_model_name_or_path: 'tinkex/tiny', peft_type: 'LORA' });
    const part = await raw.call('GET', below(json.urls['adapter_config.json']), { headers: { range: 'bytes=2-5' } });
    expect([part.status, part.text]).toEqual([206, files[0]?.text.slice(2, 6)]);
    await clock.advance(15 * 60_000);
    expect((await raw.call('GET', below(json.urls['adapter_config.json']))).status).toBe(403);
    await raw.close();
  });

  rawTest('are listed, deleted and given a time-to-live like other checkpoints', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    await exportWeights(client, modelId, 1);
    const { json } = await client.get('checkpoints');
    expect(json.checkpoints).toMatchObject([{ checkpoint_id: 'external_weights/final', checkpoint_type: 'external' }]);
    const path = `/api/v1/training_runs/${modelId}/checkpoints/external_weights/final`;
    expect((await client.call('PUT', `${path}/ttl`, { body: { ttl_seconds: 3_600 } })).status).toBe(200);
    expect((await client.call('DELETE', path)).status).toBe(200);
    expect((await client.get(urlsOf(modelId))).status).toBe(404);
    server.verify();
  });

  rawTest('have URLs only when they are external and yours', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('save_weights', { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' });
    await client.result(json.request_id, 'SaveWeights');
    expect((await client.get(urlsOf(modelId, 'weights/a'))).status).toBe(400);
    await exportWeights(client, modelId, 2);
    expect((await client.get(urlsOf(modelId), { apiKey: 'tml-another' })).status).toBe(404);
  });

  rawTest('are encrypted to age recipients, and never written in the clear instead', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { recipient, privateKey, share } = ageIdentity();
    await exportWeights(client, modelId, 1, { age_encryption_recipients: [recipient] });
    const { urls } = (await client.get(urlsOf(modelId))).json;
    expect(Object.keys(urls)).toEqual(['adapter_config.json.age', 'adapter_model.bin.age']);
    const { bytes } = await client.call('GET', below(urls['adapter_config.json.age']));
    expect(JSON.parse(decryptAge(bytes, privateKey, share).toString())).toMatchObject({ peft_type: 'LORA' });
    for (const wrong of ['ssh-ed25519 AAAA', `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`, 'age1abc']) {
      expect((await exportWeights(client, modelId, 2, { age_encryption_recipients: [wrong] })).status).toBe(400);
    }
    const many = Array.from({ length: 11 }, () => recipient);
    expect((await exportWeights(client, modelId, 3, { age_encryption_recipients: many })).status).toBe(422);
  });
});

describe('metadata of a checkpoint', () => {
  rawTest('is replaced as a whole by an overwriting save', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const seen: unknown[] = [];
    for (const [index, extra] of [{ user_metadata: { a: '1', b: '2' } }, { user_metadata: { a: '3' } }, {}].entries()) {
      const body = { model_id: modelId, path: 'a', seq_id: index + 1, overwrite: true, type: 'save_weights', ...extra };
      await client.result((await client.post('save_weights', body)).json.request_id, 'SaveWeights');
      seen.push((await client.get('checkpoints')).json.checkpoints[0].user_metadata);
    }
    expect(seen).toEqual([{ a: '1', b: '2' }, { a: '3' }, null]);
  });
});

describe('copy_weights', () => {
  const key = (value: string) => ({ 'x-idempotency-key': value });

  rawTest('makes one copy per key, of the same kind, in a run that cannot be trained', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const source = (await exportWeights(client, modelId, 1, { ttl_seconds: 3_600 })).json.path;
    const body = { source_path: source, destination_project_id: 'p1' };
    const first = (await client.post('copy_weights', body, { headers: key('k1') })).json.tinker_path as string;
    expect((await client.post('copy_weights', body, { headers: key('k1') })).json.tinker_path).toBe(first);
    const second = (await client.post('copy_weights', body, { headers: key('k2') })).json.tinker_path;
    expect(new Set([source, first, second]).size).toBe(3);
    expect(first).toMatch(/^tinker:\/\/[^/]+\/external_weights\/final$/);
    const runId = first.split('/')[2] as string;
    expect((await client.get(`training_runs/${runId}/checkpoints`)).json.checkpoints).toMatchObject([{ expires_at: null, public: false }]);
    expect((await client.get('training_runs?project_id=p1')).json.training_runs).toHaveLength(2);
    const save = { model_id: runId, path: 'x', seq_id: 1, overwrite: false, type: 'save_weights' };
    expect(await client.post('save_weights', save)).toMatchObject({ status: 400, text: expect.stringContaining('cannot be trained') });
    await client.call('DELETE', `/api/v1/training_runs/${modelId}/checkpoints/external_weights/final`);
    const { urls } = (await client.get(urlsOf(runId))).json;
    expect((await client.call('GET', below(urls['adapter_config.json']))).status).toBe(200);
  });

  rawTest('reads the weights of another account with its token, from the header or the older body', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const source = (await exportWeights(client, modelId, 1)).json.path;
    const other = new RawClient(server, 'tml-other');
    const body = { source_path: source, destination_project_id: 'p1' };
    expect((await other.post('copy_weights', body)).status).toBe(404);
    const header = { 'x-tinker-weights-access-token': server.apiKey };
    expect((await other.post('copy_weights', body, { headers: header })).status).toBe(200);
    const sessionId = await other.createSession();
    const older = { source_path: source, session_id: sessionId, model_seq_id: 4, weights_access_token: server.apiKey };
    const copies = [await other.post('copy_weights', older), await other.post('copy_weights', older)];
    expect(copies.map(({ json }) => json.tinker_path)).toEqual(
      Array.from({ length: 2 }, () => `tinker://${sessionId}:train:4/external_weights/final`),
    );
    await other.close();
  });

  rawTest.extend({ options: { projects: ['p1'] } })('refuses projects, sources and times that are not allowed', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const source_path = (await exportWeights(client, modelId, 1)).json.path;
    const statusOf = async (body: object) => (await client.post('copy_weights', body)).status;
    expect(await statusOf({ source_path, destination_project_id: 'p2' })).toBe(403);
    expect(await statusOf({ source_path })).toBe(400);
    expect(await statusOf({ source_path: 'tinker://x/weights/y', destination_project_id: 'p1' })).toBe(404);
    expect(await statusOf({ source_path, destination_project_id: 'p1', ttl_seconds: 60 })).toBe(400);
    expect(await statusOf({ source_path, destination_project_id: 'p1', ttl_seconds: 3_600 })).toBe(200);
  });
});

/** A key pair as `age-keygen` makes them. */
function ageIdentity() {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const share = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
  return { privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string, share, recipient: bech32('age', share) };
}

function bech32(prefix: string, bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const words = bits.match(/.{1,5}/g)?.map((group) => Number.parseInt(group.padEnd(5, '0'), 2)) ?? [];
  const expanded = [...[...prefix].map((c) => c.charCodeAt(0) >> 5), 0, ...[...prefix].map((c) => c.charCodeAt(0) & 31)];
  const generators = [0x3b6a57b2n, 0x26508e6dn, 0x1ea119fan, 0x3d4233ddn, 0x2a1462b3n];
  let sum = 1n;
  for (const word of [...expanded, ...words, 0, 0, 0, 0, 0, 0]) {
    const top = sum >> 25n;
    sum = ((sum & 0x1ffffffn) << 5n) ^ BigInt(word);
    for (const [bit, generator] of generators.entries()) if ((top >> BigInt(bit)) & 1n) sum ^= generator;
  }
  sum ^= 1n;
  const check = Array.from({ length: 6 }, (_, index) => Number((sum >> BigInt(5 * (5 - index))) & 31n));
  return `${prefix}1${[...words, ...check].map((word) => 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'[word]).join('')}`;
}

/** Decrypts one small file in the format of age, checking every tag. */
function decryptAge(file: Uint8Array, pem: string, recipient: Uint8Array): Buffer {
  const bytes = Buffer.from(file);
  const [header = '', share = '', wrapped = '', mac = ''] =
    /^(age-encryption\.org\/v1\n-> X25519 (\S+)\n(\S+)\n---) (\S+)\n/.exec(bytes.toString('latin1'))?.slice(1) ?? [];
  const ephemeral = Buffer.from(share, 'base64');
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x: ephemeral.toString('base64url') } });
  const secret = diffieHellman({ privateKey: createPrivateKey(pem), publicKey });
  const hkdf = (key: Uint8Array, salt: Uint8Array, info: string) => Buffer.from(hkdfSync('sha256', key, salt, info, 32));
  const open = (key: Uint8Array, nonce: Uint8Array, sealed: Buffer) => {
    const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
    decipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  };
  const wrapKey = hkdf(secret, Buffer.concat([ephemeral, recipient]), 'age-encryption.org/v1/X25519');
  const fileKey = open(wrapKey, Buffer.alloc(12), Buffer.from(wrapped, 'base64'));
  expect(
    createHmac('sha256', hkdf(fileKey, Buffer.alloc(0), 'header'))
      .update(header)
      .digest('base64')
      .replace(/=+$/, ''),
  ).toBe(mac);
  const body = bytes.subarray(header.length + mac.length + 2);
  return open(hkdf(fileKey, body.subarray(0, 16), 'payload'), Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), body.subarray(16));
}
