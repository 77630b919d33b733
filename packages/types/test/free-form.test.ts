import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/index.js';
import { createSessionRequest, stringifyJson } from '../src/wire.js';

const written = (userMetadata: JsonObject) => stringifyJson(createSessionRequest.encode({ tags: [], sdkVersion: '1', userMetadata }));
const metadata = (text: string) => `{"tags":[],"user_metadata":${text},"sdk_version":"1","type":"create_session"}`;

describe('free-form values', () => {
  it('leave out what is undefined, and keep null', () => {
    expect(written({ run: undefined, note: null, deep: { run: undefined, list: [{ run: undefined }] } })).toBe(
      metadata('{"note":null,"deep":{"list":[{}]}}'),
    );
  });

  it('may hold typed arrays and bigints', () => {
    expect(written({ floats: Float32Array.of(0.5), ints: Int32Array.of(1, 2), exact: 2n ** 60n })).toBe(
      metadata('{"floats":[0.5],"ints":[1,2],"exact":1152921504606846976}'),
    );
  });

  it.each([
    [{ loss: Number.NaN }, 'userMetadata holds NaN, which JSON cannot carry'],
    [{ losses: Float32Array.of(1, Number.POSITIVE_INFINITY) }, 'userMetadata holds Infinity, which JSON cannot carry'],
    [{ list: [undefined] }, 'userMetadata holds a undefined, which JSON cannot carry'],
    [{ at: new Date(0) }, 'userMetadata holds an object that is neither plain nor an array'],
  ])('%# are refused where JSON has no way to write them', (value, message) => {
    expect(() => written(value as never)).toThrow(message);
  });
});
