import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/sample-events.js';
import { EVENT_NAMES, EVENTS } from './catalogue.js';
import { pickFields } from './pick-fields.js';

describe('pickFields', () => {
  it.each(EVENT_NAMES)('shows only the allowed fields of %s, and all that are set', (name) => {
    const event = { ...samples[name](), apiKey: 'tml-secret', prompt: 'once upon a time', content: { prompt: [1], sequences: [] } };
    const picked = pickFields(name, event as TinkexEvents[TinkexEventName] as never);
    expect(Object.keys(picked).sort()).toEqual(Object.keys(samples[name]()).sort());
    expect(EVENTS[name].fields).toMatchObject(Object.fromEntries(Object.keys(picked).map((field) => [field, true])));
  });

  it('redacts and cuts texts, and does not follow objects', () => {
    const event = samples['tinkex:queue:state_change']({ reason: `key tml-abcdef ${'x'.repeat(2_000)}` });
    const picked = pickFields('tinkex:queue:state_change', { ...event, requestId: { toString: () => 'x' } as unknown as string });
    expect(picked['reason']).not.toContain('tml-abcdef');
    expect(String(picked['reason']).length).toBeLessThan(600);
    expect(picked['requestId']).toBe('[object]');
  });

  it('copies metrics: numbers only', () => {
    const metrics = { 'loss:mean': 1, note: 'tml-abcdef' as unknown as number };
    expect(pickFields('tinkex:training:operation', samples['tinkex:training:operation']({ metrics }))['metrics']).toEqual({
      'loss:mean': 1,
    });
  });
});
