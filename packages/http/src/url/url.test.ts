import { inspect } from 'node:util';
import { ConfigurationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { joinUrl, normalizeBaseUrl, originOf, targetOf } from './url.js';

describe('normalizeBaseUrl', () => {
  it.each([
    ['HTTPS://Host.Example:443/Base/', 'https://host.example/Base'],
    ['http://host:80', 'http://host'],
    ['http://host:8000///', 'http://host:8000'],
    ['https://host/a?query#fragment', 'https://host/a'],
  ])('%s is %s', (given, normal) => {
    expect(normalizeBaseUrl(given)).toBe(normal);
  });

  it('does not repeat a password that it refuses', () => {
    expect(() => normalizeBaseUrl('https://user:hunter2@host')).toThrow(ConfigurationError);
    expect(() => normalizeBaseUrl('https://user:hunter2@host')).not.toThrow(/hunter2/);
  });

  it('shows nothing of a text that is not a URL, not even in the cause', () => {
    let refusal: unknown;
    try {
      normalizeBaseUrl('https://user:hunter2@host:99999');
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(inspect(refusal, { depth: null })).not.toContain('hunter2');
  });
});

describe('joinUrl', () => {
  it('escapes only what a request line cannot carry', () => {
    expect(joinUrl('http://h', '/runs/s:train:0/weights/my run ü')).toBe('http://h/runs/s:train:0/weights/my%20run%20%C3%BC');
    expect(joinUrl('http://h/', 'x')).toBe('http://h/x');
    expect(joinUrl('http://h', '/a\r\nb')).toBe('http://h/a%0D%0Ab');
  });
});

describe('originOf and targetOf', () => {
  it.each([
    ['http://h:1/a/b?c#d', 'http://h:1', '/a/b?c'],
    ['https://h', 'https://h', '/'],
  ])('split %s', (url, origin, target) => {
    expect(originOf(url)).toBe(origin);
    expect(targetOf(url, origin)).toBe(target);
  });
});
