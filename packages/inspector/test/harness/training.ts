import { ServiceClient, type TrainingClient } from '@tinkex/clients';
import { startServer, type TestServer } from '@tinkex/testkit';
import { type Datum, ModelInput, nextTokenDatum, type Tokenizer } from '@tinkex/types';

const SENTENCES = ['The quick brown fox jumps over the lazy dog.', 'A stitch in time saves nine.'];

/** A program that trains: a server in this process, a client, and data. */
export interface Training extends AsyncDisposable {
  readonly server: TestServer;
  readonly service: ServiceClient;
  readonly training: TrainingClient;
  readonly tokenizer: Tokenizer;
  readonly data: readonly Datum[];
  /** Takes some steps, and returns the last result. */
  train(steps: number): Promise<Awaited<ReturnType<TrainingClient['forwardBackward']>>>;
}

export async function startTraining(): Promise<Training> {
  const server = await startServer();
  const service = new ServiceClient(server.clientOptions);
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 8 });
  const tokenizer = await training.getTokenizer();
  const data = SENTENCES.map((sentence) => nextTokenDatum(ModelInput.fromText(sentence, tokenizer).toInts()));
  return {
    server,
    service,
    training,
    tokenizer,
    data,
    async train(steps) {
      for (let step = 1; ; step += 1) {
        const forward = training.forwardBackward(data, 'cross_entropy');
        const update = training.optimStep({ learningRate: 0.01 });
        const [output] = await Promise.all([forward, update]);
        if (step >= steps) return output;
      }
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await server.close();
    },
  };
}
