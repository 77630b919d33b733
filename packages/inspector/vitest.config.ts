import { packageTests } from '../../vitest.shared.js';

export default packageTests('inspector', { globalSetup: '../../scripts/build/bundle-page.mjs' });
