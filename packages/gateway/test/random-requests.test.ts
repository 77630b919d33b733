import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGateway } from '../src/index.js';
import { scriptedModel } from './harness/scripted-model.js';

/** The full count is 10,000: TINKEX_GATEWAY_REQUESTS=10000. */
const REQUESTS = Number(process.env['TINKEX_GATEWAY_REQUESTS'] ?? 300);

const PATHS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/models',
  '/v1/models/%',
  '/nowhere',
];
const FIELDS = [
  'messages',
  'prompt',
  'max_tokens',
  'n',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'logprobs',
  'stream',
  'system',
  'seed',
  'content',
  'role',
];

/** Something like a message, or anything. */
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'x'), content: fc.oneof(fc.string(), fc.jsonValue()) }),
  fc.jsonValue(),
);
const body = fc.oneof(
  fc.jsonValue(),
  fc.record({
    model: fc.constant('m'),
    messages: fc.array(message, { maxLength: 3 }),
    max_tokens: fc.constantFrom(1, 20),
    stream: fc.boolean(),
  }),
  fc
    .tuple(fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()), fc.array(message, { minLength: 1, maxLength: 3 }))
    .map(([fields, messages]) => ({
      model: 'm',
      max_tokens: 5,
      messages,
      prompt: 'p',
      ...fields,
    })),
);

describe('the gateway', () => {
  it(`answers ${REQUESTS} random requests, each with a status and a readable body`, async () => {
    const gateway = createGateway({ models: { m: scriptedModel(() => 'Fine.<|im_end|>') }, maxAttempts: 1 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), fc.constantFrom('POST', 'GET'), body, async (path, method, json) => {
        const init = method === 'POST' ? { method, body: JSON.stringify(json) } : { method };
        const response = await gateway(new Request(`http://localhost${path}`, init));
        const text = await response.text();
        if (response.status >= 400) expect(JSON.parse(text)).toHaveProperty('error.message');
        else expect(text).not.toContain('undefined');
        // A failure of the gateway itself would be a defect; a model that does not answer as requested is not.
        if (response.status === 500) expect(text).toContain('attempts');
      }),
      { numRuns: REQUESTS },
    );
  });
});
