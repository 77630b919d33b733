import { packageTests } from '../../vitest.shared.js';

// Each test starts a process or two and mostly waits for them, on a machine that may be busy.
export default packageTests('tinkex', {
  testTimeout: 120_000,
  maxWorkers: 2,
  maxConcurrency: 4,
  globalSetup: ['./test/bundle-command.ts'],
});
