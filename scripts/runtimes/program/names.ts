import { ByteTokenizer, formatTinkerPath, ModelInput, parseTinkerPath, tokenizerIdFor } from '../../../packages/types/src/index.js';
import { endpoints } from '../../../packages/types/src/wire.js';
import { type Check, check, refuses, same } from './check.js';
import { eachCase } from './vectors.js';

interface PathExpected {
  readonly ok: boolean;
  readonly training_run_id?: string;
  readonly checkpoint_type?: string;
  readonly checkpoint_id?: string;
}

/** Paths, tokenizers, and the table of endpoints. */
export const nameChecks: readonly Check[] = [
  ...eachCase<string, PathExpected>('tinkerPaths', (input, expected) => {
    if (!expected.ok) return refuses(() => parseTinkerPath(input));
    const path = parseTinkerPath(input);
    same(
      { ok: true, training_run_id: path.trainingRunId, checkpoint_type: path.checkpointType, checkpoint_id: path.checkpointId },
      expected,
    );
    same(formatTinkerPath(path), input);
  }),
  ...eachCase<{ readonly model_name: string; readonly tokenizer_id: string | null }, Readonly<Record<string, unknown>>>(
    'tokenizerId',
    (input, expected) => {
      const source = tokenizerIdFor(input.model_name, input.tokenizer_id ?? undefined);
      same({ tokenizer_id: source.tokenizerId, revision: source.revision, trust_remote_code: source.trustRemoteCode }, expected);
    },
  ),
  ...['', 'naïve', '漢字 😀\u0000', '\ufeffmark'].map((text) =>
    check(`the byte tokenizer gives back ${JSON.stringify(text)}`, () => {
      const tokenizer = new ByteTokenizer();
      same(tokenizer.decode([...tokenizer.encode(text), tokenizer.eosTokenId]), text);
      same(ModelInput.fromText(text, tokenizer).length, tokenizer.encode(text).length);
    }),
  ),
  check('the byte tokenizer replaces what is no text', () => {
    const tokenizer = new ByteTokenizer();
    same(tokenizer.encode('\ud800'), [0xef, 0xbf, 0xbd]);
    same(tokenizer.decode([0xff, 0x41]), '\ufffdA');
    same(tokenizer.decode([0x41, tokenizer.eosTokenId], { skipSpecialTokens: false }).startsWith('A<|'), true);
  }),
  check('every endpoint is in the table', () => same(Object.keys(endpoints).length, 37)),
];
