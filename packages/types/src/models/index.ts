export { type GetLrOptions, getLr, LORA_LR_OVER_FULL_LR } from './learning-rate.js';
export { DEFAULT_LORA_RANK, getLoraParamCount, type LoraParamCountOptions } from './lora-params.js';
export { getRecommendedRendererNames, type LoraParamsPerRank, type Modality, type ModelInfo, modelInfo, modelNames } from './model-info.js';
