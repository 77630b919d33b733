import { startServer, type TestServer } from '@tinkex/testkit';
import { ServiceClient } from '../../src/index.js';
import { conformanceFlow, type FlowResults } from './conformance-flow.js';
import { type RecordedRequest, recordingDifferences, recordingOf } from './conformance-recording.js';

/** A server for the conformance scenario: three datums make a chunk. */
export function startConformanceServer(): Promise<TestServer> {
  return startServer({ config: { fwdbwdMaxChunkLen: 3 } });
}

/**
 * Runs the scenario with our client on a separate server. Throws when the server has a complaint.
 *
 * @param options - `sdkVersion` is that of the Python SDK to compare with. Default: the reference version.
 */
export async function runOwnClient(
  options: { readonly hasCustomLoss?: boolean; readonly sdkVersion?: string } = {},
): Promise<{ results: FlowResults; recording: RecordedRequest[] }> {
  await using server = await startConformanceServer();
  await using service = new ServiceClient({
    ...server.clientOptions,
    userMetadata: { suite: 'conformance' },
    sdkVersion: options.sdkVersion,
  });
  const results = await conformanceFlow(service, options);
  server.verify();
  return { results, recording: recordingOf(server.calls) };
}

export { type RecordedRequest, recordingDifferences, recordingOf };
