import type { Tokenizer } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope } from '../runtime/call-scope.js';
import { waitFor } from '../runtime/wait-for.js';
import type { Connection } from '../service/connection.js';

/** What a tokenizer is found by. */
export interface ModelTokenizerName {
  readonly modelName: string;
  readonly tokenizerId?: string | undefined;
}

/**
 * Asks the server for the model's name, then loads its tokenizer. The caller's signal and time limit, and the closing of the client, end the wait for
 * both; the load itself is shared and goes on for others.
 */
export function modelTokenizer(
  connection: Connection,
  { headers, ...limits }: CallOptions,
  askName: (step: CallOptions) => Promise<ModelTokenizerName>,
): Promise<Tokenizer> {
  const { clock, lifetime } = connection;
  return new CallScope(clock, lifetime, limits).run(async (signal) => {
    const { modelName, tokenizerId } = await askName({ signal, ...(headers === undefined ? {} : { headers }) });
    return waitFor(connection.loadTokenizer(modelName, tokenizerId), clock, { signal }, `the tokenizer of ${modelName}`);
  });
}
