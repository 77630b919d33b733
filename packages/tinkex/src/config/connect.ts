import type { AdminClient, ConnectionOptions, RestClient, ServiceClient } from '@tinkex/clients';
import type { Middleware } from '@tinkex/http';
import type { CommandContext } from '../commands/command-context.js';
import { CommandFailure } from '../output/command-failure.js';

/** A command that waits five minutes for a server that is down is of no use; training, which may, has its own limits. */
const DEFAULT_MAX_RETRIES = 3;

/** The options of a client, from the flags. What they leave out comes from the environment, then from the stored credentials. */
export function connectionOptions({ globals, terminal }: CommandContext): ConnectionOptions {
  return {
    baseUrl: globals.baseUrl,
    maxRetries: globals.maxRetries ?? DEFAULT_MAX_RETRIES,
    maxRetryMs: 0,
    middleware: [refuseUnpaid],
    onServerMessage: ({ level, text }) => terminal.note(`${level === 'info' ? 'Note' : 'Warning'} from the server: ${text}`),
  };
}

/** A client waits up to an hour for an unpaid account. A person in front of a terminal wants to know. */
const refuseUnpaid: Middleware = async (request, next) => {
  const response = await next(request);
  if (response.status !== 402) return response;
  response.body.cancel();
  throw new CommandFailure('Billing issue', {
    code: 'BILLING',
    details: ['The server answered with status 402: the account is not paid.'],
    cure: 'Check the balance of your organization in the console, then run the command again.',
  });
};

/** Works with a REST client, without a session. */
export async function withRest<T>(context: CommandContext, work: (rest: RestClient) => Promise<T>): Promise<T> {
  const { RestClient } = await import('@tinkex/clients');
  await using rest = new RestClient(connectionOptions(context));
  return await work(rest);
}

/** Works with the administration of the organization. */
export async function withAdmin<T>(context: CommandContext, work: (admin: AdminClient) => Promise<T>): Promise<T> {
  const { AdminClient } = await import('@tinkex/clients');
  await using admin = new AdminClient(connectionOptions(context));
  return await work(admin);
}

/** Works with a service client. It opens a session only for what needs one, and finishes it as what the work has done. */
export async function withService<T>(context: CommandContext, work: (service: ServiceClient) => Promise<T>): Promise<T> {
  const { ServiceClient } = await import('@tinkex/clients');
  const service = new ServiceClient(connectionOptions(context));
  return await service.run(() => work(service));
}
