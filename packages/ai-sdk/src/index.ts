export { createTinkex, type TinkexProvider, type TinkexProviderOptions } from './create-tinkex.js';
export type { TinkexCallOptions } from './provider-options.js';
