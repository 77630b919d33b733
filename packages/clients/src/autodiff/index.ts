export { autodiff, type DifferentiableLoss, type DifferentiableLossResult } from './autodiff.js';
