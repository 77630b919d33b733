import { mkdir } from 'node:fs/promises';
import { engineFolder, findProject } from '../config/project.js';
import { EMBEDDED_MODEL } from '../config/target.js';
import { portOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { gatewayLines } from './gateway.js';
import { examples } from './help-text.js';
import { untilStopped } from './until-stopped.js';

interface ServeOptions {
  readonly port: number;
  readonly gatewayPort: number;
  readonly inspectorPort: number;
  readonly gateway: boolean;
  readonly inspector: boolean;
  readonly state: boolean;
}

/** `tinkex serve` */
export const register: RegisterCommand = (command, process) => {
  command
    .option('-p, --port <number>', 'port of the Tinker API; 0 for any free port', portOf, 8000)
    .option('--gateway-port <number>', 'port of the OpenAI API; 0 for any free port', portOf, 8001)
    .option('--inspector-port <number>', 'port of the page that shows runs; 0 for any free port', portOf, 8002)
    .option('--no-gateway', 'without the OpenAI API')
    .option('--no-inspector', 'without the page')
    .option('--no-state', 'keep nothing; by default the state is that of the project, in .tinkex/')
    .addHelpText(
      'after',
      examples(['serve', 'then start a program with the lines it prints'], ['serve --no-state --port 0', 'a server for one test']),
    )
    .action(
      runWith<ServeOptions>(process, async (context, options) => {
        const { terminal, signal } = context;
        const { startServer } = await import('@tinkex/testkit');
        const project = findProject(globalThis.process.cwd());
        const stateDir = options.state ? engineFolder(project) : undefined;
        if (stateDir !== undefined) await mkdir(stateDir, { recursive: true });
        await using server = await startServer({
          port: options.port,
          stateDir,
          baseModels: [EMBEDDED_MODEL],
          recorderLimit: 0,
          strict: false,
        });
        terminal.print(`export TINKER_BASE_URL=${server.url}\nexport TINKER_API_KEY=${server.apiKey}`);
        const [{ ServiceClient }, { createGateway, serviceModels, startGateway }] = await Promise.all([
          import('@tinkex/clients'),
          import('@tinkex/gateway'),
        ]);
        await using service = new ServiceClient(server.clientOptions);
        const models = serviceModels(service);
        await using gateway = options.gateway ? await startGateway({ models, port: options.gatewayPort }) : undefined;
        if (gateway !== undefined) terminal.print(gatewayLines(gateway).join('\n'));
        const { inspectFolder, openAiChat } = await import('@tinkex/inspector');
        const page = { port: options.inspectorPort, chat: openAiChat(createGateway({ models })), protocol: server, log: () => undefined };
        await using inspector = options.inspector ? await inspectFolder(project.root, page) : undefined;
        if (inspector !== undefined) terminal.print(`# Runs of this project: ${inspector.url}`);
        terminal.note('Press Ctrl-C to stop.');
        await untilStopped(signal);
      }),
    );
};
