/** The protocol's vectors that the program checks. The bundle holds them: a browser has no files. */
import chunking from '../../../packages/types/test/vectors/chunking.json' with { type: 'json' };
import csr from '../../../packages/types/test/vectors/csr.json' with { type: 'json' };
import metricReduction from '../../../packages/types/test/vectors/metric-reduction.json' with { type: 'json' };
import promptLogprobs from '../../../packages/types/test/vectors/prompt-logprobs.json' with { type: 'json' };
import output from '../../../packages/types/test/vectors/protobuf-forward-backward-output.json' with { type: 'json' };
import request from '../../../packages/types/test/vectors/protobuf-forward-backward-request.json' with { type: 'json' };
import sampleResponse from '../../../packages/types/test/vectors/protobuf-sample-response.json' with { type: 'json' };
import requestBodies from '../../../packages/types/test/vectors/request-bodies.json' with { type: 'json' };
import responseParsing from '../../../packages/types/test/vectors/response-parsing.json' with { type: 'json' };
import tensorContainer from '../../../packages/types/test/vectors/tensor-container.json' with { type: 'json' };
import tinkerPaths from '../../../packages/types/test/vectors/tinker-paths.json' with { type: 'json' };
import tokenizerId from '../../../packages/types/test/vectors/tokenizer-id.json' with { type: 'json' };
import topkPromptLogprobs from '../../../packages/types/test/vectors/topk-prompt-logprobs.json' with { type: 'json' };
import { type Check, check } from './check.js';

const files = {
  ...{ chunking, csr, metricReduction, output, promptLogprobs, request, requestBodies, responseParsing, sampleResponse },
  ...{ tensorContainer, tinkerPaths, tokenizerId, topkPromptLogprobs },
};

/** A check for each case of a vector file, or of those whose expectation is wanted. */
export function eachCase<Input, Expected>(
  file: keyof typeof files,
  run: (input: Input, expected: Expected, name: string) => void,
  isWanted: (expected: Expected) => boolean = () => true,
): readonly Check[] {
  const cases = files[file].cases as readonly { readonly name: string; readonly input: unknown; readonly expected: unknown }[];
  return cases
    .filter(({ expected }) => isWanted(expected as Expected))
    .map(({ name, input, expected }) => check(`${file}: ${name}`, () => run(input as Input, expected as Expected, name)));
}

/** Numbers that do not fit JSON are text in the vectors. */
export function vectorNumber(value: number | string): number {
  return Number(value);
}

/** Bytes of hexadecimal text. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Hexadecimal text of bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
