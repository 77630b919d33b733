import { REFERENCE_SDK_VERSION } from '@tinkex/http';
import { expect, it } from 'vitest';
import { RecordedCall } from '../recorder/recorded-call.js';
import { SeenClients } from './seen-clients.js';

function callBy(agent: string, version: string | undefined): RecordedCall {
  const headers = { 'user-agent': agent, 'x-stainless-package-version': version };
  return new RecordedCall({ index: 0, route: 'healthz', method: 'GET', target: '/', headers, arrivedAtMs: 0, requestBytes: 0 });
}

it('introduces each version of each client once', () => {
  const clients = new SeenClients();
  expect(clients.introduce(callBy('AsyncTinker/Python 0.30.2', '0.30.2'))).toBe('Client: AsyncTinker/Python 0.30.2');
  expect(clients.introduce(callBy('AsyncTinker/Python 0.30.2', '0.30.2'))).toBeUndefined();
  expect(clients.introduce(callBy(`AsyncTinker/Python ${REFERENCE_SDK_VERSION}`, REFERENCE_SDK_VERSION))).toMatch(/\d$/);
  expect(clients.introduce(callBy('Tinkex/TypeScript 1.0.0', '0.36.0'))).toBe(
    'Client: Tinkex/TypeScript 1.0.0 with the protocol of SDK 0.36.0',
  );
  expect(clients.introduce(callBy('curl/8', undefined))).toBeUndefined();
});

it('says what a version outside of those it follows means', () => {
  const clients = new SeenClients();
  expect(clients.introduce(callBy('AsyncTinker/Python 0.110.0', '0.110.0'))).toContain('newer than');
  expect(clients.introduce(callBy('AsyncTinker/Python 0.9.0', '0.9.0'))).toContain('--dialect both');
});
