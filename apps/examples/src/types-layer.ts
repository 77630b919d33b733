/** Only @tinkex/types: build, check, encode and decode payloads. No network, no Node built-ins: it runs in any runtime. */
import { ModelInput, nextTokenDatum, parseTinkerPath, ValidationError } from '@tinkex/types';
import { forwardBackwardRequest, parseJson, protobuf, sampleResponse, stringifyJson } from '@tinkex/types/wire';
import { runExample } from './shared/run-example.js';

await runExample({ about: 'Shows what the data package does on its own, without a server.', hasServer: false }, async () => {
  // Build: camelCase, typed arrays, checked as you go.
  const request = {
    modelId: 'run-1',
    seqId: 1,
    lossFn: 'cross_entropy',
    data: [nextTokenDatum([10, 20, 30, 40], { promptLength: 2 })],
  };

  // Encode: the same value in both wire formats.
  const json = stringifyJson(forwardBackwardRequest.encode(request));
  const bytes = protobuf.forwardBackwardRequest.encode(request);
  console.log(`JSON, ${json.length} characters:\n  ${json}\n`);
  console.log(`Protobuf, ${bytes.length} bytes:\n  ${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}\n`);

  // Decode: back to the original value.
  const { data } = forwardBackwardRequest.decode(parseJson(json));
  console.log(`Round trip: targets ${JSON.stringify(data[0]?.lossFnInputs.targetTokens?.toArray())}`);

  // Check: an invalid payload is rejected with the path of each problem.
  try {
    forwardBackwardRequest.decode({ model_id: 'run-1', forward_backward_input: { loss_fn: 'cross_entropy', data: [], note: 'hello' } });
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    console.log(`\nRejected (${error.direction}):`);
    for (const { path, message } of error.issues) console.log(`  ${path}: ${message}`);
  }

  // Responses are lenient: unknown fields of a newer server are ignored.
  const { sequences } = sampleResponse.decode({
    sequences: [{ tokens: [1, 2], logprobs: [-0.5, -0.25], stop_reason: 'stop' }],
    from_the_future: true,
  });
  console.log(`\nA sample: ${sequences[0]?.tokens.constructor.name} [${sequences[0]?.tokens}], stopped by ${sequences[0]?.stopReason}`);
  console.log('A path:  ', parseTinkerPath('tinker://run-1/weights/step-0010'));
  console.log('A prompt:', ModelInput.fromInts([1, 2]).appendInt(3).length, 'tokens');
});
