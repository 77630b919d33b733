import { describe, expect, it } from 'vitest';
import { isPrivateAddress, publicLookup, refusePrivateHost } from './public-addresses.js';

describe('isPrivateAddress', () => {
  it.each([
    '127.0.0.1',
    '127.255.0.9',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'localhost',
    '',
  ])('%s is', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is not', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

it.each(['http://127.1/', 'http://0x7f000001/', 'http://2130706433/', 'http://[::1]/', 'http://[::ffff:10.0.0.1]:9/', 'https://0/'])(
  'refuses %s, however it is written',
  (url) => {
    expect(() => refusePrivateHost(url)).toThrow('allowPrivateAddresses');
  },
);

it('leaves names to their resolution, which refuses them when an address is private', async () => {
  expect(() => refusePrivateHost('http://localhost/')).not.toThrow();
  for (const all of [true, false]) {
    const failure = await new Promise<Error | null>((resolve) => publicLookup('localhost', { all }, (error) => resolve(error)));
    expect(failure).toMatchObject({ name: 'ConnectionError', isRetryable: false });
  }
});
