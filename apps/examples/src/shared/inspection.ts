import type { ServiceClient } from '@tinkex/clients';
import type { AttachedInspector } from '@tinkex/inspector';
import type { TestServer } from '@tinkex/testkit';
import { paint } from './terminal.js';

/** The meaning of `--inspect`, for the usage of the examples that have it. */
export const INSPECT_HELP = 'show the run in a browser, and stay until Ctrl-C';

/** What the page says about the run. */
export interface InspectedRun {
  readonly name: string;
  readonly rank?: number | undefined;
  readonly totalSteps?: number | undefined;
}

/** What an inspection needs of a target. */
interface Inspected {
  readonly service: ServiceClient;
  readonly baseModel: string;
  readonly server: TestServer | undefined;
}

/** Opens the page of this run: texts included, and with a playground that samples through the same service. */
export async function openInspection({ service, baseModel, server }: Inspected, run: InspectedRun): Promise<AttachedInspector> {
  // Loaded only with --inspect: the other runs start without a gateway and a page.
  const [{ attachInspector, openAiChat }, { createGateway, serviceModels }] = await Promise.all([
    import('@tinkex/inspector'),
    import('@tinkex/gateway'),
  ]);
  return attachInspector({
    ...run,
    model: baseModel,
    models: [baseModel],
    chat: openAiChat(createGateway({ models: serviceModels(service) })),
    includeContent: true,
    protocol: server,
    log: (line) => console.log(paint('bold', line)),
  });
}

let isWatching = false;

/** Whether the example is done and only its page is open: Ctrl-C is then the way to leave, and not an interruption. */
export function isOnlyWatched(): boolean {
  return isWatching;
}

/** Keeps the page open until the user has seen enough. */
export async function stayOpen({ url }: { readonly url: string }, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  isWatching = true;
  console.log(`\nThe run is complete. Look at it, and chat with the result: ${url}\nCtrl-C ends it.`);
  // Nothing else keeps the process running.
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  clearInterval(alive);
}
