import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { systemClock } from '@tinkex/http/clock';
import { VirtualClock } from '@tinkex/http/testing';
import type { RecordedCall } from '../recorder/recorded-call.js';
import { startServer } from '../server/create-server.js';
import type { ControlOptions } from '../server/server-options.js';
import type { TestServer } from '../server/test-server.js';
import { SeenClients } from './seen-clients.js';
import type { ServeOptions } from './serve-options.js';

/** Where the command writes. */
export interface Output {
  write(line: string): void;
}

/** Runs a server until the process receives SIGINT or SIGTERM, then saves its state. */
export async function serve(options: ServeOptions, output: Output): Promise<void> {
  const control = controlOf(options);
  const server = await startServing(options, output, control);
  output.write(greeting(server, options, control?.token));
  const signal = await untilStopped(options);
  output.write(`Received ${signal}: stopping${options.state === undefined ? '' : ` and saving to ${options.state}`}.`);
  await server.close();
}

/** The server that the command runs. */
export async function startServing(options: ServeOptions, output: Output, control = controlOf(options)): Promise<TestServer> {
  const clients = new SeenClients();
  const onCall = (call: RecordedCall): void => {
    const client = clients.introduce(call);
    if (client !== undefined) output.write(client);
    if (options.log) output.write(logLine(call));
    for (const { detail } of call.notices) output.write(`Notice: ${detail}`);
  };
  const server = await startServer({
    port: options.port,
    host: options.host,
    allowedHosts: options.allowHost,
    engine: options.engine,
    dialect: options.dialect,
    baseModels: options.model,
    anyModel: options.anyModel,
    samplingSeed: options.samplingSeed,
    sampledLogprobs: options.sampledLogprobs,
    flags: options.flag,
    strict: options.strict,
    // Without its control API a command has no use for the recording, and ten thousand batches with their bodies take a lot of memory.
    ...(control === undefined ? { recorderLimit: 0 } : { control }),
    ...(options.virtualClock === true ? { clock: new VirtualClock() } : {}),
    stateDir: options.state,
    durability: options.durability,
    onCall,
  });
  if (options.chaos !== undefined) server.chaos({ seed: options.chaos, rate: options.chaosRate });
  return server;
}

/** Resolves with what ends the command: the name of a signal. The listener alone does not keep the process alive; a timer does until the signal arrives. */
export async function untilStopped({ untilStdinEnds = false }: Pick<ServeOptions, 'untilStdinEnds'>): Promise<string> {
  const alive = setInterval(() => undefined, 60_000);
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const stop = new AbortController();
  try {
    const ends: Promise<string>[] = signals.map((name) => once(process, name, { signal: stop.signal }).then(() => name));
    if (untilStdinEnds) ends.push(once(process.stdin.resume(), 'end', { signal: stop.signal }).then(() => 'the end of standard input'));
    return await Promise.race(ends);
  } finally {
    stop.abort();
    clearInterval(alive);
  }
}

/** The access to the control API that the command line asks for. */
function controlOf({ control, controlRemote }: ServeOptions): ControlOptions | undefined {
  if (control === undefined) return undefined;
  return { token: control === true ? randomBytes(16).toString('hex') : control, allowRemote: controlRemote };
}

function greeting({ url, apiKey }: TestServer, { engine, dialect, chaos, state }: ServeOptions, token: string | undefined): string {
  const extras = [chaos === undefined ? '' : `, chaos seed ${chaos}`, state === undefined ? '' : `, state in ${state}`].join('');
  return [
    `Tinker test server on ${url} (engine ${engine}, dialect ${dialect}${extras})`,
    '',
    'Point a client at it:',
    `  export TINKER_BASE_URL=${url}`,
    `  export TINKER_API_KEY=${apiKey}`,
    ...(token === undefined ? [] : [`  export TINKEX_TESTKIT_URL=${url}`, `  export TINKEX_TESTKIT_TOKEN=${token}`]),
    '',
    '  Python      tinker.ServiceClient().create_lora_training_client(base_model="Qwen/Qwen3-8B", rank=8)',
    "  TypeScript  new ServiceClient().createLoraTrainingClient({ baseModel: 'Qwen/Qwen3-8B', rank: 8 })",
    '',
    'Press Ctrl-C to stop.',
  ].join('\n');
}

/** One line of the request log: time, request, status, duration, sizes, and one more line per violation. */
function logLine(call: RecordedCall): string {
  const time = new Date(systemClock.wallMs()).toISOString().slice(11, 23);
  const took = `${Math.round((call.repliedAtMs ?? call.arrivedAtMs) - call.arrivedAtMs)} ms`;
  const parts = [time, call.method.padEnd(6), call.path, '->', String(call.status ?? '(no reply)'), took, sizeText(call)];
  if (call.requestId !== undefined) parts.push(call.requestId);
  if (call.fault !== undefined) parts.push(`fault: ${call.fault}`);
  for (const { rule, detail } of call.violations) parts.push(`\n             ! ${rule}: ${detail}`);
  return parts.join(' ');
}

function sizeText(call: RecordedCall): string {
  return `${call.requestBytes}/${call.replyBytes ?? 0} B`;
}
