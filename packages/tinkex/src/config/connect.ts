import type { AdminClient, ConnectionOptions, RestClient, ServiceClient, ServiceClientOptions } from '@tinkex/clients';
import type { Middleware } from '@tinkex/http';
import type { CommandContext } from '../commands/command-context.js';
import { CommandFailure } from '../output/command-failure.js';
import { openTarget, type Target, type TargetOptions } from './target.js';

/** A command that waits five minutes for a server that is down is of no use; training, which may, has its own limits. */
const DEFAULT_MAX_RETRIES = 3;

/** Works with a REST client, without a session. */
export async function withRest<T>(context: CommandContext, work: (rest: RestClient) => Promise<T>): Promise<T> {
  const { RestClient } = await import('@tinkex/clients');
  await using target = await openTarget(context);
  await using rest = new RestClient(quickOptions(context, target));
  return await work(rest);
}

/** Works with the administration of the organization. */
export async function withAdmin<T>(context: CommandContext, work: (admin: AdminClient) => Promise<T>): Promise<T> {
  const { AdminClient } = await import('@tinkex/clients');
  await using target = await openTarget(context);
  await using admin = new AdminClient(quickOptions(context, target));
  return await work(admin);
}

/** Works with a service client. It opens a session only for what needs one, and finishes it as what the work has done. */
export async function withService<T>(context: CommandContext, work: (service: ServiceClient) => Promise<T>): Promise<T> {
  const { ServiceClient } = await import('@tinkex/clients');
  await using target = await openTarget(context);
  const service = new ServiceClient(quickOptions(context, target));
  return await service.run(() => work(service));
}

/** Works with a service client for as long as it takes: temporary failures and unpaid accounts are waited for. Creates the embedded engine if need be. */
export async function withPatientService<T>(
  context: CommandContext,
  options: TargetOptions & Pick<ServiceClientOptions, 'userMetadata'>,
  work: (service: ServiceClient, target: Target) => Promise<T>,
): Promise<T> {
  const { ServiceClient } = await import('@tinkex/clients');
  await using target = await openTarget(context, { mayCreate: true, ...options });
  const { maxRetries } = context.globals;
  const service = new ServiceClient({
    ...target.connection,
    ...(maxRetries === undefined ? {} : { maxRetries }),
    userMetadata: options.userMetadata,
    onServerMessage: noteMessage(context),
  });
  return await service.run(() => work(service, target));
}

function quickOptions(context: CommandContext, target: Target): ConnectionOptions {
  return {
    ...target.connection,
    maxRetries: context.globals.maxRetries ?? DEFAULT_MAX_RETRIES,
    maxRetryMs: 0,
    middleware: [refuseUnpaid],
    onServerMessage: noteMessage(context),
  };
}

function noteMessage({ terminal }: CommandContext): NonNullable<ConnectionOptions['onServerMessage']> {
  return ({ level, text }) => terminal.note(`${level === 'info' ? 'Note' : 'Warning'}: ${text}`);
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
