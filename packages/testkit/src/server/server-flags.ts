import { ConfigurationError } from '@tinkex/types';
import { clientConfigResponse, clientDynamicConfigResponse } from '@tinkex/types/wire';

type Flags = Readonly<Record<string, boolean | number | string>>;

/** Flags under their names on the wire, by the endpoint that sends them. */
export interface ServerFlags {
  readonly config: Flags;
  readonly dynamicConfig: Flags;
}

const DYNAMIC_NAMES: ReadonlySet<string> = new Set(Object.keys(clientDynamicConfigResponse.encode(clientDynamicConfigResponse.decode({}))));
const STATIC_NAMES: ReadonlySet<string> = new Set(Object.keys(clientConfigResponse.encode(clientConfigResponse.decode({}))));

/** Sorts flags by the endpoint that sends them. Throws `ConfigurationError` for an unknown name, and for a value of the wrong type. */
export function serverFlags(flags: Flags): ServerFlags {
  for (const name of Object.keys(flags)) {
    if (DYNAMIC_NAMES.has(name) || STATIC_NAMES.has(name)) continue;
    const known = [...STATIC_NAMES, ...DYNAMIC_NAMES].sort().join(', ');
    throw new ConfigurationError({ message: `There is no flag ${JSON.stringify(name)}. The flags are ${known}.`, option: 'flags' });
  }
  const pick = (names: ReadonlySet<string>) => Object.fromEntries(Object.entries(flags).filter(([name]) => names.has(name)));
  const sorted = { config: pick(STATIC_NAMES), dynamicConfig: pick(DYNAMIC_NAMES) };
  try {
    clientConfigResponse.decode(sorted.config);
    clientDynamicConfigResponse.decode(sorted.dynamicConfig);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigurationError({ message: `A flag has a value of the wrong type. ${reason}`, option: 'flags', cause });
  }
  return sorted;
}
