import { ConfigurationError } from '@tinkex/types';
import { isDecodable } from '../compression/content-encoding.js';
import { decodeLatin1, encodeText } from '../runtime/bytes.js';
import { nodeModule } from '../runtime/node-module.js';
import { fillWithRandom } from '../runtime/random.js';
import { runtimeFacts } from '../runtime/runtime-facts.js';
import type { HttpClientOptions } from './http-client-options.js';
import type { BaseRequestOptions } from './request-options.js';

/** The version of the reference client whose behavior is mirrored; a server may switch by it. */
export const REFERENCE_SDK_VERSION = '0.36.0';

const JSON_TYPE = 'application/json';
const OPERATING_SYSTEMS: Readonly<Record<string, string>> = {
  linux: 'Linux',
  darwin: 'MacOS',
  win32: 'Windows',
  freebsd: 'FreeBSD',
  openbsd: 'OpenBSD',
  android: 'Android',
};
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'arm64', arm: 'arm', ia32: 'x32' };
const { runtime: RUNTIME, runtimeVersion: RUNTIME_VERSION, platform, arch } = runtimeFacts();
const OS = OPERATING_SYSTEMS[platform] ?? `Other:${platform}`;
const ARCH = ARCHITECTURES[arch] ?? `other:${arch}`;

/** Writes the headers of each call: the protocol's, then the client's, then the call's, the later winning. */
export class RequestHeaders {
  readonly #userAgent: string;
  readonly #sdkVersion: string;
  readonly #timeoutSeconds: string;
  readonly #clientHeaders: Record<string, string> = {};

  constructor({ userAgent, sdkVersion, acceptEncoding, headers = {} }: HttpClientOptions, attemptTimeoutMs: number) {
    this.#userAgent = userAgent ?? `Tinkex/TypeScript ${packageVersion()}`;
    this.#sdkVersion = sdkVersion ?? REFERENCE_SDK_VERSION;
    this.#timeoutSeconds = String(attemptTimeoutMs / 1_000);
    if (acceptEncoding !== undefined) this.#clientHeaders['accept-encoding'] = checkedEncodings(acceptEncoding);
    setLowerCased(this.#clientHeaders, headers);
  }

  create(options: BaseRequestOptions): Record<string, string> {
    const { method, attemptTimeoutMs } = options;
    const timeoutSeconds = attemptTimeoutMs === undefined ? this.#timeoutSeconds : String(attemptTimeoutMs / 1_000);
    const isRead = method === 'GET' || method === 'HEAD';
    const headers = isRead ? this.#forRead(options, timeoutSeconds) : this.#forWrite(options, timeoutSeconds);
    for (const name in this.#clientHeaders) headers[name] = this.#clientHeaders[name] as string;
    if (options.headers !== undefined) setLowerCased(headers, options.headers);
    return headers;
  }

  // Each set is one literal on purpose: V8 keeps a copied template as a hash table, which takes more memory and slows every
  // reader. docs/decisions/0201-http-hot-path.md
  #forRead({ accept }: BaseRequestOptions, timeoutSeconds: string): Record<string, string> {
    return {
      accept: accept ?? JSON_TYPE,
      'user-agent': this.#userAgent,
      'x-stainless-arch': ARCH,
      'x-stainless-os': OS,
      'x-stainless-package-version': this.#sdkVersion,
      'x-stainless-read-timeout': timeoutSeconds,
      'x-stainless-retry-count': '0',
      'x-stainless-runtime': RUNTIME,
      'x-stainless-runtime-version': RUNTIME_VERSION,
    };
  }

  /** A write has a content type even when its body is empty. */
  #forWrite({ accept, contentType }: BaseRequestOptions, timeoutSeconds: string): Record<string, string> {
    return {
      accept: accept ?? JSON_TYPE,
      'content-type': contentType ?? JSON_TYPE,
      'user-agent': this.#userAgent,
      'x-idempotency-key': newIdempotencyKey(),
      'x-stainless-arch': ARCH,
      'x-stainless-os': OS,
      'x-stainless-package-version': this.#sdkVersion,
      'x-stainless-read-timeout': timeoutSeconds,
      'x-stainless-retry-count': '0',
      'x-stainless-runtime': RUNTIME,
      'x-stainless-runtime-version': RUNTIME_VERSION,
    };
  }
}

const HEX = encodeText('0123456789abcdef');
/** The key that is written next. The dashes and the version stay, the 32 digits change. */
const KEY = Uint8Array.from(encodeText('tinkex-retry-00000000-0000-4000-8000-000000000000'));
const DIGITS = [...KEY.keys()].filter((index) => index >= 'tinkex-retry-'.length && KEY[index] !== 0x2d);
const RANDOM = new Uint8Array(16 * 256);
let usedBytes = RANDOM.length;

/**
 * Identifies one call to the server, over all its attempts: `tinkex-retry-` and a random UUID (version 4). Written digit by
 * digit into one buffer: `crypto.randomUUID()` concatenates twenty pieces, which stay in memory and are copied one by one.
 */
export function newIdempotencyKey(): string {
  if (usedBytes === RANDOM.length) {
    fillWithRandom(RANDOM);
    usedBytes = 0;
  }
  for (let digit = 0; digit < DIGITS.length; digit += 1) {
    const byte = RANDOM[usedBytes + (digit >> 1)] as number;
    const nibble = digit % 2 === 0 ? byte >> 4 : byte & 0x0f;
    KEY[DIGITS[digit] as number] = HEX[digit === 12 ? 4 : digit === 16 ? (nibble & 0x3) | 0x8 : nibble] as number;
  }
  usedBytes += 16;
  return decodeLatin1(KEY);
}

/** Writes straight into the target, without a copy per call. */
function setLowerCased(target: Record<string, string>, headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) target[name.toLowerCase()] = value;
  }
}

/** An encoding that is requested and cannot be decoded would fail every response. */
function checkedEncodings(acceptEncoding: string): string {
  for (const part of acceptEncoding.split(',')) {
    const encoding = part.replace(/;.*/, '').trim().toLowerCase();
    if (isDecodable(encoding)) continue;
    const message = `acceptEncoding names ${JSON.stringify(encoding)}, which cannot be decoded. Name gzip, deflate, br or identity.`;
    throw new ConfigurationError({ message, option: 'acceptEncoding' });
  }
  return acceptEncoding;
}

function packageVersion(): string {
  try {
    return (nodeModule('node:module', 'The version').createRequire(import.meta.url)('@tinkex/http/package.json') as { version: string })
      .version;
  } catch {
    // A bundler of an application has moved this file out of its package, or the runtime has no packages.
    return 'bundled';
  }
}
