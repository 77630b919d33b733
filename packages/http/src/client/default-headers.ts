import { createRequire } from 'node:module';
import { arch, platform, version } from 'node:process';

/** The version of the reference client whose behaviour is mirrored; servers may look at it. */
export const DEFAULT_SDK_VERSION = '0.25.0';

const PLATFORMS: Readonly<Record<string, string>> = {
  linux: 'Linux',
  darwin: 'MacOS',
  win32: 'Windows',
  freebsd: 'FreeBSD',
  openbsd: 'OpenBSD',
  android: 'Android',
};

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'arm64', arm: 'arm', ia32: 'x32' };

/** Names us and the machine, as the protocol's table of headers asks. */
export function identityHeaders(userAgent: string | undefined, sdkVersion: string): Record<string, string> {
  return {
    'user-agent': userAgent ?? `Tinkex/TypeScript ${packageVersion()}`,
    'x-stainless-package-version': sdkVersion,
    'x-stainless-os': PLATFORMS[platform] ?? `Other:${platform}`,
    'x-stainless-arch': ARCHITECTURES[arch] ?? `other:${arch}`,
    'x-stainless-runtime': 'node',
    'x-stainless-runtime-version': version,
  };
}

function packageVersion(): string {
  try {
    return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
  } catch {
    // A bundler has moved this file away from its manifest.
    return 'bundled';
  }
}
