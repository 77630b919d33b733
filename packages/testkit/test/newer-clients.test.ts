import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';

const newer = { tags: [], user_metadata: {}, sdk_version: '9.9.9', a_field_of_tomorrow: { x: 1 } };

describe('fields that the protocol does not know', () => {
  rawTest('are refused and break a rule', async ({ server, client }) => {
    const { status, text } = await client.post('create_session', newer);
    expect(status).toBe(422);
    expect(text).toContain('a_field_of_tomorrow');
    expect(brokenRules(server)).toEqual(['body-invalid']);
  });

  describe('with acceptUnknownFields', () => {
    const tolerant = rawTest.extend({ options: { acceptUnknownFields: true } });

    tolerant('are dropped, also inside of others', async ({ server, client }) => {
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
      expect((await client.post('create_model', body)).status).toBe(200);
      expect(server.callsTo('createSession')[0]?.request).toEqual({ tags: [], userMetadata: {}, sdkVersion: '9.9.9' });
      expect(server.callsTo('createModel')[0]?.request).not.toHaveProperty('scheduleOfTomorrow');
      server.verify();
    });

    tolerant('do not excuse what is wrong besides', async ({ server, client }) => {
      expect((await client.post('create_session', { ...newer, tags: 7 })).status).toBe(422);
      expect((await client.post('create_session', { a_field_of_tomorrow: 1 })).status).toBe(422);
      expect(brokenRules(server)).toEqual(['body-invalid', 'body-invalid']);
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
