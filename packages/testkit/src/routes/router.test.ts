import { endpoints } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import type { RouteName } from './route-types.js';
import { Router } from './router.js';

describe('Router', () => {
  const router = new Router('');

  it('finds every endpoint of the table by its own path', () => {
    for (const route of Object.keys(endpoints) as RouteName[]) {
      const { method, path } = endpoints[route];
      const target = path.replace('{checkpoint_id}', 'weights/0001').replace(/\{\w+\}/g, 'S:train:0');
      expect(router.match(method, `${target}?a=1`)).toMatchObject({ route, query: 'a=1' });
    }
  });

  it('reads ids with colons, slashes and escapes', () => {
    const path = '/api/v1/training_runs/S%3Atrain:0/checkpoints/sampler_weights/x%20y/ttl';
    expect(router.match('PUT', path)).toMatchObject({
      route: 'setCheckpointTtl',
      params: { training_run_id: 'S:train:0', checkpoint_id: 'sampler_weights/x y' },
    });
    expect(router.match('DELETE', '/api/v1/training_runs/r/checkpoints/weights/publish')).toMatchObject({
      route: 'deleteCheckpoint',
      params: { checkpoint_id: 'weights/publish' },
    });
    expect(router.match('DELETE', '/api/v1/training_runs/r/checkpoints/weights/publish/publish')).toMatchObject({
      route: 'unpublishCheckpoint',
    });
    expect(router.match('GET', '/api/v1/samplers/%zz')).toMatchObject({ params: { sampler_id: '%zz' } });
  });

  it('distinguishes an unknown path from a wrong method', () => {
    expect(router.match('GET', '/api/v1/nowhere')).toEqual({ route: undefined, isKnownPath: false });
    expect(router.match('PATCH', '/api/v1/asample')).toEqual({ route: undefined, isKnownPath: true });
    expect(router.match('PATCH', '/api/v1/sessions/x')).toEqual({ route: undefined, isKnownPath: true });
  });
});
