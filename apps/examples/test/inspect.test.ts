import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundles, plainEnvironment } from './program-files.js';
import { temporaryOutput } from './run-program.js';

/** As much of an answer as this test reads. */
interface Detail {
  readonly metrics: readonly object[];
  readonly checkpoints: readonly { readonly samplerPath?: string }[];
}

it('quickstart --inspect prints an address, shows the run there, lets you talk to the result, and ends with Ctrl-C', async () => {
  await using out = await temporaryOutput();
  const env = { ...plainEnvironment(), TINKEX_EXAMPLES_OUT: out.path };
  const child = spawn(process.execPath, [join(bundles, 'quickstart.js'), '--inspect'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    stdout += text;
    if (stdout.includes('Ctrl-C ends it.')) break;
  }
  const [, url] = /Inspector: (http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/)/.exec(stdout) ?? [];
  const detail = (await (await fetch(`${url}api/runs/live/detail`)).json()) as Detail;
  expect(detail.metrics).toContainEqual(expect.objectContaining({ name: 'loss per token', points: 30 }));
  const examples = await (await fetch(`${url}api/runs/live/examples`)).json();
  expect(examples).toHaveLength(10);

  const body = JSON.stringify({ model: detail.checkpoints.at(-1)?.samplerPath, prompt: 'A stitch', maxTokens: 20, temperature: 0 });
  const answer = await fetch(`${url}api/chat`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await answer.json()).toMatchObject({ samples: [{ text: ' in time saves nine.' }] });

  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
