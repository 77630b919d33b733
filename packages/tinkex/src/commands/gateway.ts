import { withPatientService } from '../config/connect.js';
import { EXIT } from '../output/exit-codes.js';
import { portOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { untilStopped } from './until-stopped.js';

interface GatewayOptions {
  readonly port: number;
}

/** `tinkex gateway` */
export const register: RegisterCommand = (command, process) => {
  command
    .option('-p, --port <number>', 'port to listen on; 0 for any free port', portOf, 8001)
    .addHelpText('after', examples(['gateway --port 8001', 'then use any OpenAI client with the lines it prints']))
    .action(
      runWith<GatewayOptions>(process, async (context, { port }) => {
        await withPatientService(context, {}, async (service) => {
          const { serviceModels, startGateway } = await import('@tinkex/gateway');
          await using gateway = await startGateway({ models: serviceModels(service), port });
          context.terminal.print(gatewayLines(gateway).join('\n'));
          context.terminal.note('Press Ctrl-C to stop.');
          await untilStopped(context.signal);
        });
        context.endWith(EXIT.success);
      }),
    );
};

/** What a client of the gateway needs. */
export function gatewayLines({ url, apiKey }: { readonly url: string; readonly apiKey: string }): string[] {
  return [
    `export OPENAI_BASE_URL=${url}/v1`,
    `export OPENAI_API_KEY=${apiKey}`,
    `export ANTHROPIC_BASE_URL=${url}`,
    `export ANTHROPIC_API_KEY=${apiKey}`,
  ];
}
