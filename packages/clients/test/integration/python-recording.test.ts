import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordingDifferences } from '../support/conformance-recording.js';
import { type RecordedRequest, runOwnClient } from '../support/conformance-server.js';

/** Made by `pnpm conformance:python --record` from a run of the Python SDK. */
const recording = JSON.parse(readFileSync(new URL('../../../../vectors/python-recording.json', import.meta.url), 'utf8')) as {
  readonly sdk: string;
  readonly requests: readonly RecordedRequest[];
};

describe('requests compared with those of the Python SDK', () => {
  it('the same program sends the same requests: bodies, paths, queries and the headers that matter', async () => {
    const { recording: own } = await runOwnClient({ sdkVersion: recording.sdk });
    expect(recordingDifferences(recording.requests, own)).toEqual({ onlyPython: [], onlyTypeScript: [] });
  });

  it('the recording covers training, saving, loading, sampling and management, and no credential', () => {
    const routes = new Set(recording.requests.map(({ route }) => route));
    expect([...routes].sort()).toEqual([
      'asample',
      'checkpointArchive',
      'clientConfig',
      'clientDynamicConfig',
      'createModel',
      'createSamplingSession',
      'createSession',
      'deleteCheckpoint',
      'forwardBackward',
      'getInfo',
      'getSampler',
      'getServerCapabilities',
      'getSession',
      'getTrainingRun',
      'listCheckpoints',
      'listSessions',
      'listTrainingRuns',
      'listUserCheckpoints',
      'loadWeights',
      'optimStep',
      'publishCheckpoint',
      'retrieveFuture',
      'saveWeights',
      'saveWeightsForSampler',
      'setCheckpointTtl',
      'unpublishCheckpoint',
      'weightsInfo',
    ]);
    expect(JSON.stringify(recording)).not.toMatch(/tml-|eyJ/);
  });

  it('a difference is seen: one changed field, one request more', () => {
    const [first, ...rest] = recording.requests as [RecordedRequest, ...RecordedRequest[]];
    const changed = { ...first, path: `${first.path}/else` };
    expect(recordingDifferences(recording.requests, [changed, ...rest])).toEqual({ onlyPython: [first], onlyTypeScript: [changed] });
    expect(recordingDifferences(recording.requests, [first, first, ...rest]).onlyTypeScript).toEqual([first]);
  });
});
