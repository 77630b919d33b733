import type { BlockList, LookupFunction } from 'node:net';
import { ConnectionError } from '@tinkex/types';
import { nodeModule } from '../runtime/node-module.js';

/** Networks that are not public: loopback, private, link-local, shared, documentation, multicast, reserved. */
const IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** The last ones carry an IPv4 address that a gateway would unpack: no public service needs them. */
const IPV6 = [
  '::/127',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '2001:db8::/32',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
];

let privateNetworks: BlockList | undefined;

/** Whether an IP address belongs to this machine or to a private network. */
export function isPrivateAddress(address: string): boolean {
  const { isIP } = nodeModule('node:net', 'Checking an address');
  privateNetworks ??= createPrivateNetworks();
  const family = isIP(address);
  // A text that is not an address is not known to be public.
  if (family === 0) return true;
  return privateNetworks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** @throws ConnectionError, not retryable, when the host of a URL is a private address. Names are checked when they are resolved. */
export function refusePrivateHost(url: string): void {
  const { hostname } = new URL(url);
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const { isIP } = nodeModule('node:net', 'Checking an address');
  if (isIP(address) !== 0 && isPrivateAddress(address)) throw privateAddress();
}

/** Resolves names like the system, and fails when an address is private: the one that is checked is the one that is connected to. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  const { lookup } = nodeModule('node:dns', 'Resolving a name');
  lookup(hostname, options, (error, address, family) => {
    const addresses = Array.isArray(address) ? address.map((one) => one.address) : [address];
    if (error === null && addresses.some(isPrivateAddress)) callback(privateAddress(), address, family);
    else callback(error, address, family);
  });
};

function privateAddress(): ConnectionError {
  const message = 'The address is a private one, or of this machine, and allowPrivateAddresses is false: it was not connected to.';
  return new ConnectionError({ message, isRetryable: false });
}

function createPrivateNetworks(): BlockList {
  const { BlockList } = nodeModule('node:net', 'Checking an address');
  const list = new BlockList();
  for (const [networks, family] of [
    [IPV4, 'ipv4'],
    [IPV6, 'ipv6'],
  ] as const) {
    for (const network of networks) {
      const [base = '', prefix] = network.split('/');
      list.addSubnet(base, Number(prefix), family);
    }
  }
  return list;
}
