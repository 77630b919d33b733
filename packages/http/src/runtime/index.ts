export { byteLengthOf, concatBytes, encodeText } from './bytes.js';
export { emitWarning, type WarningKind } from './emit-warning.js';
export { findNodeModule, type NodeModules, nodeModule } from './node-module.js';
export { fillWithRandom, randomUuid } from './random.js';
export { type RuntimeFacts, runtimeFacts } from './runtime-facts.js';
