import { subscribe } from '@tinkex/http';
import { EVENT_NAMES } from '@tinkex/telemetry';
import { afterAll, expect } from 'vitest';

/**
 * Listens to every event of the SDK while a test file runs, and fails the file if one carries anything that looks like a credential: an API key, a
 * JWT, or a signed URL. Set up for every suite of this package, which drives all layers, so that none can leak unnoticed.
 */
const SECRET = /tml-[\w-]+|eyJ[\w-]{8,}\.[\w-]+\.|[?&](?:sig|signature|token|x-amz-signature)=/i;

const leaks: string[] = [];
const stops = EVENT_NAMES.map((name) =>
  subscribe(name, (event) => {
    const text = JSON.stringify(event);
    if (SECRET.test(text)) leaks.push(`${name}: ${text.replace(SECRET, '…')}`);
  }),
);

afterAll(() => {
  for (const stop of stops) stop();
  expect(leaks, 'events that carry a secret').toEqual([]);
});
