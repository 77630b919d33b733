import { packageTests } from '../../vitest.shared.js';

// Each test starts a process or two, and the machine may be busy.
export default packageTests('examples', { testTimeout: 120_000, hookTimeout: 120_000 });
