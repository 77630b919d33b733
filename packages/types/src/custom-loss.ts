// Custom losses that run on the server: how they are traced, checked and executed. Clients and servers share one interpreter.
export { checkCustomLossData } from './custom-loss/check-custom-loss-data.js';
export { isCustomLossInputName, isCustomLossMetricName } from './custom-loss/custom-loss-names.js';
export { type CustomLossProgram, type CustomLossValue, compileCustomLoss, type DatumLogprobs } from './custom-loss/custom-loss-program.js';
export { CUSTOM_LOSS_OPERATIONS } from './custom-loss/operations.js';
export { traceLoss } from './custom-loss/trace-loss.js';
