import { packageTests } from '../vitest.shared.js';

export default packageTests('tooling', { include: ['**/*.test.ts'], testTimeout: 120_000 });
