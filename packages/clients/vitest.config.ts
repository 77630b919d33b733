import { packageTests } from '../../vitest.shared.js';

export default packageTests('clients', { setupFiles: ['test/support/no-secrets-in-events.ts'] });
