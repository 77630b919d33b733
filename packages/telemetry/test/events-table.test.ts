import type { TinkexEventName } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../src/events/catalogue.js';
import { type DeclaredEvent, declaredEvents } from './events-source.js';
import { expectGuideTable } from './guide-table.js';

const common = ['clientId', 'baseUrl', 'sessionId', 'requestType', 'requestId', 'attempt', 'durationMs'];

function levelText(name: TinkexEventName): string {
  const { level, failure } = EVENTS[name];
  return failure === undefined ? level : `${level}, ${failure.level} on failure`;
}

function row({ name, documentation, fields }: DeclaredEvent): string {
  const own = fields
    .filter((field) => ![...common, 'callId'].includes(field.name))
    .map((field) => `\`${field.name}${field.isOptional ? '?' : ''}\``);
  return `| \`${name}\` | ${documentation} | ${levelText(name as TinkexEventName)} | ${own.join(', ') || '–'} |`;
}

describe('the catalog of events', () => {
  it('gives every event the common fields, and documents each event', () => {
    for (const { name, fields, documentation } of declaredEvents()) {
      expect([name, fields.map((field) => field.name)]).toEqual([name, expect.arrayContaining(common)]);
      expect(documentation).toMatch(/\.$/);
    }
  });

  it('is the table in the guide', () => {
    const table = ['| event | published when | log level | other fields |', '|---|---|---|---|', ...declaredEvents().map(row)];
    expectGuideTable('events', table);
  });
});
