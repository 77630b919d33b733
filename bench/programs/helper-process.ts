import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Another process of a benchmark, so that its work does not count. It answers each line that it reads with one line of JSON. */
export class HelperProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string, task: object) {
    const file = fileURLToPath(new URL(`./${program}.js`, import.meta.url));
    this.#child = spawn(process.execPath, [file, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout as NonNullable<ChildProcess['stdout']> })[Symbol.asyncIterator]();
  }

  async ask<T>(question: object): Promise<T> {
    this.#child.stdin?.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('A process of this benchmark ended.');
    return JSON.parse(value) as T;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}

/** The other side: answers every line until the input ends. */
export async function answerLines(answer: (question: unknown) => Promise<object> | object): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
  }
}
