import { createCipheriv, createHmac, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto';

const CHARSET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHUNK_BYTES = 64 * 1024;
const NO_SALT = new Uint8Array();

/** The 32 bytes of an `age1…` public key (X25519), or undefined for text that is not one. */
export function parseRecipient(text: string): Uint8Array | undefined {
  const data = /^age1([02-9ac-hj-np-z]{58})$/.exec(text)?.[1];
  if (data === undefined) return undefined;
  const words = [...data].map((character) => CHARSET.indexOf(character));
  if (checksum([...'age'].map((c) => c.charCodeAt(0) >> 5).concat(0, ...[...'age'].map((c) => c.charCodeAt(0) & 31), ...words)) !== 1) {
    return undefined;
  }
  const bits = words.slice(0, -6).flatMap((word) => [16, 8, 4, 2, 1].map((bit) => ((word & bit) === 0 ? 0 : 1)));
  return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8).join(''), 2));
}

/** The checksum of Bech32. */
function checksum(words: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, value] of generator.entries()) if ((top >>> bit) & 1) sum ^= value;
  }
  return sum;
}

/** Encrypts bytes in the format of age (age-encryption.org/v1), so that each recipient can decrypt them. */
export function encryptFor(recipients: readonly string[], content: Uint8Array): Uint8Array {
  const fileKey = randomBytes(16);
  const stanzas = recipients.map((recipient) => stanzaFor(parseRecipient(recipient) as Uint8Array, fileKey));
  const header = `age-encryption.org/v1\n${stanzas.join('')}---`;
  const mac = createHmac('sha256', derive(fileKey, NO_SALT, 'header'))
    .update(header)
    .digest();
  const nonce = randomBytes(16);
  return Buffer.concat([Buffer.from(`${header} ${base64(mac)}\n`), nonce, ...sealChunks(derive(fileKey, nonce, 'payload'), content)]);
}

/** The file key, wrapped for one recipient. */
function stanzaFor(recipient: Uint8Array, fileKey: Uint8Array): string {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const share = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
  const theirs = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(recipient).toString('base64url') } });
  const secret = diffieHellman({ privateKey, publicKey: theirs });
  const wrapKey = derive(secret, Buffer.concat([share, recipient]), 'age-encryption.org/v1/X25519');
  return `-> X25519 ${base64(share)}\n${base64(seal(wrapKey, Buffer.alloc(12), fileKey))}\n`;
}

/** Chunks of 64 KiB. The nonce counts them and marks the last one. */
function sealChunks(key: Uint8Array, content: Uint8Array): Buffer[] {
  const count = Math.max(1, Math.ceil(content.length / CHUNK_BYTES));
  return Array.from({ length: count }, (_, index) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce[11] = index === count - 1 ? 1 : 0;
    return seal(key, nonce, content.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
  });
}

function seal(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

function derive(secret: Uint8Array, salt: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, info, 32));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
