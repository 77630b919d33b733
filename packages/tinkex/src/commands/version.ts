import { showJson } from '../output/show-result.js';
import { version } from '../version.js';
import { type RegisterCommand, runWith } from './command-context.js';

/** `tinkex version` */
export const register: RegisterCommand = (command, process) => {
  command.action(
    runWith(process, async (context) => {
      if (context.format === 'json') showJson(context, { version });
      else context.terminal.print(`tinkex ${version}`);
    }),
  );
};
