import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const packageDir = fileURLToPath(new URL('..', import.meta.url));

/** Set where many processes are started: built sources start faster. */
const built = process.env['TINKEX_TESTKIT_CLI'];

/** The command line in a separate process. */
export class Command {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  output = '';
  errors = '';

  constructor(...args: string[]) {
    const node = [...(built === undefined ? ['--conditions=@tinkex/source', '--import', 'tsx', 'src/cli/main.ts'] : [built]), ...args];
    this.child = spawn(process.execPath, node, { cwd: packageDir, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
  }

  async seen(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      await Promise.race([
        once(this.child.stdout, 'data'),
        once(this.child, 'exit').then(() => Promise.reject(new Error(this.errors || this.output))),
      ]);
    }
  }

  async exited(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }
}
