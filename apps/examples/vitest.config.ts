import { packageTests } from '../../vitest.shared.js';

// Each test starts a process or two and mostly waits for them, on a machine that may be busy.
export default packageTests('examples', {
  testTimeout: 300_000,
  maxWorkers: 2,
  maxConcurrency: 4,
  globalSetup: ['../../scripts/build/bundle-examples.mjs'],
});
