import { describe, expect, it } from 'vitest';
import { datum, encodedText, ModelInput, ValidationError } from '../src/index.js';
import { type ForwardBackwardRequest, forwardBackwardRequest, protobuf, stringifyJson } from '../src/wire.js';

const request: ForwardBackwardRequest = {
  modelId: 'm',
  seqId: 1,
  lossFn: 'cross_entropy',
  data: [datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3] } })],
};
const withChunk = (chunk: object) => ({
  ...request,
  data: [{ modelInput: new ModelInput([encodedText([1]), chunk as never]), lossFnInputs: {} }],
});

const withProvenance = (provenance: object) => ({ ...request, data: [{ ...request.data[0], provenance }] });
const withSpan = (span: object) => withProvenance({ modelInput: [span], targetTokens: [] });

const dialects = [
  ['protobuf', (value: object) => protobuf.forwardBackwardRequest.encode(value as never)],
  ['JSON', (value: object) => stringifyJson(forwardBackwardRequest.encode(value as never))],
] as const;

/** What a compiler would refuse, and what comes from JavaScript nevertheless. */
const WRONG: readonly (readonly [name: string, value: object, path: string])[] = [
  ['base64 text for the bytes of an image', withChunk({ type: 'image', data: 'AAAA', format: 'png' }), 'data[0].modelInput.chunks[1].data'],
  [
    'an ArrayBuffer for the bytes of an image',
    withChunk({ type: 'image', data: new ArrayBuffer(4), format: 'png' }),
    'data[0].modelInput.chunks[1].data',
  ],
  ['base64 text for audio', withChunk({ type: 'dmel', dmel: 'AAAA' }), 'data[0].modelInput.chunks[1].dmel'],
  ['a chunk of no known kind', withChunk({ type: 'video' }), 'data[0].modelInput.chunks[1].type'],
  ['null for the settings of the loss function', { ...request, lossFnConfig: null }, 'lossFnConfig'],
  ['a list for the settings of the loss function', { ...request, lossFnConfig: [0.2] }, 'lossFnConfig'],
  ['NaN for a setting of the loss function', { ...request, lossFnConfig: { beta: Number.NaN } }, 'lossFnConfig.beta'],
  ['a list for a setting of the loss function', { ...request, lossFnConfig: { beta: [1] } }, 'lossFnConfig.beta'],
  ['a negative offset', withSpan({ kind: 'prompt', sequenceId: 'q', offset: -1, length: 2 }), 'data[0].provenance.modelInput[0].offset'],
  ['a span without a sequence', withSpan({ kind: 'sampled', sequenceId: '', length: 2 }), 'data[0].provenance.modelInput[0].sequenceId'],
  ['a span of no known kind', withSpan({ kind: 'copied', sequenceId: 'q', length: 2 }), 'data[0].provenance.modelInput[0].kind'],
  [
    'a misspelled field of a span',
    withSpan({ kind: 'prompt', sequenceId: 'q', len: 1, length: 2 }),
    'data[0].provenance.modelInput[0].len',
  ],
  ['one list of spans alone', withProvenance({ modelInput: [] }), 'data[0].provenance.targetTokens'],
];

describe.each(dialects)('the %s dialect', (_dialect, encode) => {
  it.each(WRONG)('refuses %s and names the place', (_name, value, path) => {
    let error: unknown;
    try {
      encode(value);
    } catch (thrown) {
      error = thrown;
    }
    expect(ValidationError.isInstance(error) && error.issues.map((issue) => issue.path)).toEqual([path]);
  });

  it('sends true and false as 1 and 0', () => {
    expect(encode({ ...request, lossFnConfig: { on: true, off: false } })).toEqual(encode({ ...request, lossFnConfig: { on: 1, off: 0 } }));
  });

  it('takes an unknown option that is undefined, and a datum without loss inputs', () => {
    expect(encode({ ...request, unknown: undefined })).toEqual(encode(request));
    const { modelInput } = request.data[0] as ForwardBackwardRequest['data'][number];
    expect(encode({ ...request, data: [{ modelInput }] })).toEqual(encode({ ...request, data: [{ modelInput, lossFnInputs: {} }] }));
  });
});
