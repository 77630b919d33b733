import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { datum, ModelInput } from '@tinkex/types';
import { ForwardBackwardRequestSchema, protobuf } from '@tinkex/types/wire';
import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';

const newer = { tags: [], user_metadata: {}, sdk_version: '9.9.9', a_field_of_tomorrow: { x: 1 } };

/** A pass whose datum has a field of a newer protocol. */
function newerMessage(modelId: string, seqId: number): Uint8Array {
  const data = [datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } })];
  const known = protobuf.forwardBackwardRequest.encode({ modelId, seqId, data, lossFn: 'cross_entropy', forwardOnly: false });
  const message = fromBinary(ForwardBackwardRequestSchema, known);
  message.data[0]!.$unknown = [{ no: 90, wireType: 0, data: new Uint8Array([7]) }];
  return toBinary(ForwardBackwardRequestSchema, message);
}

const PROTOBUF = { headers: { 'content-type': 'application/x-protobuf' } };

describe('fields that the protocol does not know', () => {
  rawTest('are refused and break a rule, in bodies, messages and queries', async ({ server, client }) => {
    const { status, text } = await client.post('create_session', newer);
    expect(status).toBe(422);
    expect(text).toContain('a_field_of_tomorrow');
    const modelId = await client.createModel(await client.createSession());
    const message = await client.post('forward_backward', newerMessage(modelId, 1), PROTOBUF);
    expect([message.status, message.text]).toEqual([422, expect.stringContaining('field 90 of Datum is not a known field')]);
    expect((await client.get('training_runs?mood=good')).status).toBe(422);
    expect(brokenRules(server)).toEqual(['body-invalid', 'body-invalid', 'query-invalid']);
    expect(server.notices).toEqual([]);
    expect(() => server.verify()).toThrow('a_field_of_tomorrow is not a known field');
  });

  describe('of a server that is not strict', () => {
    const lenient = rawTest.extend({ options: { strict: false } });

    lenient('are dropped and noted once, also inside of others', async ({ server, client }) => {
      const { status, json } = await client.post('create_session', newer);
      expect(status).toBe(200);
      const lora = { rank: 4, a_knob_of_tomorrow: true };
      const body = {
        session_id: json.session_id,
        model_seq_id: 0,
        base_model: 'tinkex/tiny',
        lora_config: lora,
        schedule_of_tomorrow: { type: 'cosine' },
      };
      const created = await client.post('create_model', body);
      expect(created.status).toBe(200);
      expect(server.callsTo('createSession')[0]?.request).toEqual({ tags: [], userMetadata: {}, sdkVersion: '9.9.9' });
      expect(server.callsTo('createModel')[0]?.request).not.toHaveProperty('scheduleOfTomorrow');
      await client.post('create_session', newer);
      const modelId = (await client.result(created.json.request_id, 'CreateModel')).json.model_id;
      expect((await client.post('forward_backward', newerMessage(modelId, 1), PROTOBUF)).status).toBe(200);
      expect((await client.get('training_runs?mood=good')).status).toBe(200);
      expect(server.notices.map(({ detail }) => detail)).toEqual([
        'createSession: a_field_of_tomorrow is not a known field and was ignored',
        'createModel: lora_config.a_knob_of_tomorrow is not a known field and was ignored',
        'createModel: schedule_of_tomorrow is not a known field and was ignored',
        'forwardBackward: field 90 of Datum is not a known field and was ignored',
        'listTrainingRuns: mood is not a known field and was ignored',
      ]);
      server.verify();
    });

    lenient('do not excuse what is wrong besides', async ({ server, client }) => {
      expect((await client.post('create_session', { ...newer, tags: 7 })).status).toBe(422);
      expect((await client.post('create_session', { a_field_of_tomorrow: 1 })).status).toBe(422);
      expect(brokenRules(server)).toEqual(['body-invalid', 'body-invalid']);
      expect(server.notices).toEqual([]);
    });
  });
});

describe('chaos by route', () => {
  rawTest('strikes each route with its own faults, and those without any not at all', async ({ server, client }) => {
    server.chaos({
      seed: 1,
      rate: 1,
      kinds: (route) => (route === 'getServerCapabilities' ? ['status-503'] : []),
      maxFaultsPerOperation: 1,
    });
    expect((await client.get('get_server_capabilities')).status).toBe(503);
    expect((await client.get('get_server_capabilities')).status).toBe(200);
    expect((await client.get('healthz')).status).toBe(200);
    expect(server.calls.map(({ fault }) => fault)).toEqual(['status-503', undefined, undefined]);
  });
});
