import type { ServiceClient } from '@tinkex/clients';
import type { CommandContext } from '../commands/command-context.js';
import { withService } from '../config/connect.js';
import { nearest } from '../output/nearest-name.js';
import { failedVerdict, type Verdict } from './verdict.js';

/** Signed addresses and tokens live for minutes: a clock that is off by more makes them expire early. */
const MAX_SKEW_MS = 60_000;

/** Whether the server answers and accepts the key, what its clock says, and whether it offers a model. */
export async function checkServer(context: CommandContext, model: string | undefined): Promise<Verdict[]> {
  try {
    return await withService(context, async (service) => {
      const { supportedModels } = await service.getServerCapabilities({ signal: context.signal });
      const names = supportedModels.flatMap(({ modelName }) => modelName ?? []);
      const server = { check: 'Server', isOk: true, detail: `${service.baseUrl} offers ${names.length} models` };
      return [server, await checkClock(context, service), ...(model === undefined ? [] : [checkModel(model, names)])];
    });
  } catch (error) {
    return [await failedVerdict('Server', error, 'Check TINKER_BASE_URL and your proxy.')];
  }
}

function checkModel(model: string, names: readonly string[]): Verdict {
  const isOk = names.includes(model);
  const guess = nearest(model, names);
  const cure = `${guess === undefined ? '' : `Did you mean ${guess}? `}Choose one of: ${names.join(', ')}`;
  return { check: 'Model', isOk, detail: isOk ? model : `the server does not offer ${model}`, cure };
}

/** Compares this clock with the date of an answer. */
async function checkClock({ now, signal }: CommandContext, { baseUrl }: ServiceClient): Promise<Verdict> {
  const { HttpClient } = await import('@tinkex/http');
  await using client = new HttpClient({ baseUrl, maxRetries: 0 });
  const { headers } = await client
    .request({ method: 'GET', path: '/api/v1/healthz', acceptStatus: [401, 403, 404], parse: () => undefined, signal })
    .withMetadata();
  const serverMs = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(serverMs)) return { check: 'Clock', isOk: true, detail: 'the server does not say the time' };
  const skewMs = Math.abs(now().getTime() - serverMs);
  return {
    check: 'Clock',
    isOk: skewMs <= MAX_SKEW_MS,
    detail: `${Math.round(skewMs / 1000)} s from the server's`,
    cure: 'Set the clock of this machine, for example with NTP.',
  };
}
