import { mkdir } from 'node:fs/promises';
import type { Inspector } from '@tinkex/inspector';
import { engineFolder, findProject } from '../config/project.js';
import { EMBEDDED_MODEL } from '../config/target.js';
import { portOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { gatewayLines } from './gateway.js';
import { examples } from './help-text.js';
import { answerBesideApi } from './serve-page.js';
import { untilStopped } from './until-stopped.js';

interface ServeOptions {
  readonly port: number;
  readonly gatewayPort: number;
  readonly gateway: boolean;
  readonly inspector: boolean;
  readonly state: boolean;
}

/** `tinkex serve` */
export const register: RegisterCommand = (command, process) => {
  command
    .option('-p, --port <number>', 'port of the Tinker API and of the page that shows runs; 0 for any free port', portOf, 8000)
    .option('--gateway-port <number>', 'port of the OpenAI API; 0 for any free port', portOf, 8001)
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
        let page: Inspector | undefined;
        await using server = await startServer({
          port: options.port,
          stateDir,
          baseModels: [EMBEDDED_MODEL],
          recorderLimit: 0,
          strict: false,
          otherRequests: (request) => answerBesideApi(request, page),
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
        if (options.inspector) {
          const { createInspector, openAiChat } = await import('@tinkex/inspector');
          page = createInspector({ folders: [project.root], chat: openAiChat(createGateway({ models })), protocol: server });
          terminal.print(`# Runs of this project: ${server.url}${page.path}`);
        }
        terminal.note('Press Ctrl-C to stop.');
        await untilStopped(signal);
        page?.close();
      }),
    );
};
