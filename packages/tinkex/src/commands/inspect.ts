import { findProject } from '../config/project.js';
import { portOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { untilStopped } from './until-stopped.js';

interface InspectOptions {
  readonly port: number;
}

/** `tinkex inspect` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('[folder]', 'a run folder, or a folder of run folders; default: the project')
    .option('-p, --port <number>', 'port of the page; 0 for any free port', portOf, 0)
    .addHelpText('after', examples(['inspect runs/first', 'one run'], ['inspect', 'all runs of the project']))
    .action(
      runWith<InspectOptions>(process, async (context, { port }, [folder]) => {
        const { inspectFolder } = await import('@tinkex/inspector');
        await using inspector = await inspectFolder(folder ?? findProject(globalThis.process.cwd()).root, { port, log: () => undefined });
        context.terminal.print(inspector.url);
        context.terminal.note('Press Ctrl-C to stop.');
        await untilStopped(context.signal);
      }),
    );
};
