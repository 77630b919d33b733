import type { CommandContext } from '../commands/command-context.js';
import { credentialsPath, NO_CREDENTIALS, readCredentials } from '../config/credentials-file.js';
import { failedVerdict, type Verdict } from './verdict.js';

const OLDEST_NODE = [20, 19] as const;
const KEY_STARTS = ['tml-', 'eyJ'];

/** Whether this Node can run the packages. */
export function checkNode(version: string): Verdict {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOk = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return { check: 'Node', isOk, detail: version, cure: `Install Node ${OLDEST_NODE.join('.')} or newer.` };
}

/** Whether there is a credential, and whether it looks like one. */
export async function checkKey({ environment, globals }: CommandContext): Promise<Verdict> {
  const check = 'Key';
  const { apiKey, credentialCommand, home } = environment;
  if (globals.local === true) return { check, isOk: true, detail: 'the embedded engine needs none' };
  if (apiKey === undefined && credentialCommand !== undefined) return { check, isOk: true, detail: 'from TINKER_CREDENTIAL_CMD' };
  const isHosted = (globals.baseUrl ?? environment.baseUrl) === undefined;
  const cure = 'Keys of the hosted service start with tml-. Create one in the console, then `tinkex auth login`.';
  if (apiKey !== undefined) {
    const isOk = !isHosted || KEY_STARTS.some((start) => apiKey.startsWith(start));
    return { check, isOk, detail: isOk ? 'TINKER_API_KEY' : 'TINKER_API_KEY does not look like a key', cure };
  }
  try {
    const { default: id, keys } = home === undefined ? NO_CREDENTIALS : await readCredentials(credentialsPath(home));
    const stored = id === undefined ? undefined : keys[id];
    if (stored !== undefined) return { check, isOk: true, detail: `stored key "${stored.name}"` };
  } catch (error) {
    return await failedVerdict(check, error, 'Repair the credentials file, or delete it and run `tinkex auth login`.');
  }
  if (isHosted) return { check, isOk: true, detail: 'none: commands use the embedded engine' };
  return { check, isOk: false, detail: 'none, and a server is set', cure: 'Set TINKER_API_KEY, or run `tinkex auth login`.' };
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether the address of the server is one, and does not send the key in the clear. */
export function checkUrl({ environment, globals }: CommandContext): Verdict {
  const check = 'URL';
  const url = globals.baseUrl ?? environment.baseUrl;
  if (globals.local === true) return { check, isOk: true, detail: 'the embedded engine' };
  if (url === undefined) return { check, isOk: true, detail: 'not set: the hosted service, or without a key the embedded engine' };
  const from = globals.baseUrl === undefined ? 'TINKER_BASE_URL' : '--base-url';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { check, isOk: false, detail: `${from} is not an address`, cure: `Set ${from} to an address such as http://127.0.0.1:8000.` };
  }
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return { check, isOk: true, detail: `${origin}, from ${from}` };
  return { check, isOk: true, detail: `${origin}, from ${from}; not encrypted: anybody on the way can read the key` };
}

/** Whether a proxy is set, and whether it is one. Its address may hold a password and is not shown. */
export function checkProxy({ environment, globals }: CommandContext): Verdict {
  const check = 'Proxy';
  const { proxy, noProxy } = environment;
  if (globals.local === true || proxy === undefined) return { check, isOk: true, detail: 'none' };
  const text = proxy.includes('://') ? proxy : `http://${proxy}`;
  const cure = 'Set HTTPS_PROXY to an address such as http://proxy.internal:3128, or unset it. NO_PROXY lists hosts without a proxy.';
  if (!URL.canParse(text) || !/^(https?|socks5?):$/.test(new URL(text).protocol)) {
    return { check, isOk: false, detail: 'the proxy of the environment is not an address', cure };
  }
  return { check, isOk: true, detail: `${new URL(text).host}${noProxy === undefined ? '' : `, but not for ${noProxy}`}` };
}
