import { createRequire } from 'node:module';
import { arch, platform, version } from 'node:process';

/** The version of the reference client whose behaviour is mirrored; servers may look at it. */
const DEFAULT_SDK_VERSION = '0.25.0';

const JSON_TYPE = 'application/json';

const PLATFORMS: Readonly<Record<string, string>> = {
  linux: 'Linux',
  darwin: 'MacOS',
  win32: 'Windows',
  freebsd: 'FreeBSD',
  openbsd: 'OpenBSD',
  android: 'Android',
};

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'arm64', arm: 'arm', ia32: 'x32' };

const OS = PLATFORMS[platform] ?? `Other:${platform}`;
const ARCH = ARCHITECTURES[arch] ?? `other:${arch}`;

/**
 * The headers of each call, as the protocol's table asks. Each set is one literal on purpose: copying a template instead makes
 * the engine keep the headers as a hash table, which costs several times the memory and slows everything that reads them.
 */
export class DefaultHeaders {
  readonly #userAgent: string;
  readonly #sdkVersion: string;

  constructor(userAgent: string | undefined, sdkVersion: string | undefined) {
    this.#userAgent = userAgent ?? `Tinkex/TypeScript ${packageVersion()}`;
    this.#sdkVersion = sdkVersion ?? DEFAULT_SDK_VERSION;
  }

  /** Of a call that changes nothing: no body, no key. */
  forRead(accept: string | undefined, timeoutSeconds: string): Record<string, string> {
    return {
      accept: accept ?? JSON_TYPE,
      'user-agent': this.#userAgent,
      'x-stainless-arch': ARCH,
      'x-stainless-os': OS,
      'x-stainless-package-version': this.#sdkVersion,
      'x-stainless-read-timeout': timeoutSeconds,
      'x-stainless-retry-count': '0',
      'x-stainless-runtime': 'node',
      'x-stainless-runtime-version': version,
    };
  }

  /** Of a call that may change something; it has a content type even when its body is empty. */
  forWrite(
    accept: string | undefined,
    contentType: string | undefined,
    idempotencyKey: string,
    timeoutSeconds: string,
  ): Record<string, string> {
    return {
      accept: accept ?? JSON_TYPE,
      'content-type': contentType ?? JSON_TYPE,
      'user-agent': this.#userAgent,
      'x-idempotency-key': idempotencyKey,
      'x-stainless-arch': ARCH,
      'x-stainless-os': OS,
      'x-stainless-package-version': this.#sdkVersion,
      'x-stainless-read-timeout': timeoutSeconds,
      'x-stainless-retry-count': '0',
      'x-stainless-runtime': 'node',
      'x-stainless-runtime-version': version,
    };
  }
}

function packageVersion(): string {
  try {
    return (createRequire(import.meta.url)('@tinkex/http/package.json') as { version: string }).version;
  } catch {
    // An application's bundler has taken this file out of its package.
    return 'bundled';
  }
}
