export type { CustomLoss, CustomLossResult, LogprobTensor } from '../training/custom-loss.js';
export { autodiff, type DifferentiableLoss, type DifferentiableLossResult } from './autodiff.js';
export { type JaxLossFunction, jaxLoss } from './jax-loss.js';
