import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const address = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** A gate whose program, in a separate process group, connects to us and then hangs. */
const gateSource = (port: number): string => `
import { command } from ${address('./command.ts')};
import { temporaryFolder } from ${address('./temporary-folder.ts')};
console.log(temporaryFolder('test'));
await command(process.execPath, ['--eval', 'require("net").connect(${port}, "127.0.0.1")']);
`;

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a gate that is stopped by %s leaves no process and no folder behind', async (signal, expected) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const source = gateSource((server.address() as AddressInfo).port);
  const gate = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(gate.stdout);
  const [call] = (await once(server, 'connection')) as [Socket];
  const hungUp = once(call.on('error', () => undefined).resume(), 'close');
  gate.kill(signal);
  expect(await once(gate, 'exit')).toEqual([expected, null]);
  await hungUp;
  expect(await printed).toMatch(/tinkex-test-\w+\n$/);
  expect(existsSync((await printed).trim())).toBe(false);
  server.close();
});
