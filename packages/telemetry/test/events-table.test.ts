import { describe, expect, it } from 'vitest';
import { eventFields, eventNames } from '../src/events/event-fields.js';
import { failureLevels, usualLevels } from '../src/logger/log-level.js';
import { type DeclaredEvent, declaredEvents } from './events-source.js';
import { expectGuideTable } from './guide-table.js';

const common = ['clientId', 'baseUrl', 'sessionId', 'requestType', 'requestId', 'attempt', 'durationMs'];

function level(name: keyof typeof usualLevels): string {
  const failure = failureLevels[name];
  return failure === undefined ? usualLevels[name] : `${usualLevels[name]}, ${failure.level} on failure`;
}

function row({ name, documentation, fields }: DeclaredEvent): string {
  const own = fields.filter((field) => !common.includes(field.name)).map((field) => `\`${field.name}${field.isOptional ? '?' : ''}\``);
  return `| \`${name}\` | ${documentation} | ${level(name as keyof typeof usualLevels)} | ${own.join(', ') || '–'} |`;
}

describe('the catalogue of events', () => {
  it('gives every event the common fields, and documents each event', () => {
    for (const { name, fields, documentation } of declaredEvents()) {
      expect([name, fields.map((field) => field.name)]).toEqual([name, expect.arrayContaining(common)]);
      expect(documentation).toMatch(/\.$/);
    }
  });

  it('is what the allow-list allows, but for content', () => {
    const declared = Object.fromEntries(
      declaredEvents().map(({ name, fields }) => [
        name,
        fields
          .map((field) => field.name)
          .filter((field) => field !== 'content')
          .sort(),
      ]),
    );
    const allowed = Object.fromEntries(eventNames.map((name) => [name, [...(eventFields[name] as readonly string[])].sort()]));
    expect(allowed).toEqual(declared);
  });

  it('is the table in the guide', () => {
    const table = ['| event | published when | log level | fields of its own |', '|---|---|---|---|', ...declaredEvents().map(row)];
    expectGuideTable('events', table);
  });
});
