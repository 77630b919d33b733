import { deepseekV3 } from './deepseek-v3.js';
import { deepseekV41 } from './deepseek-v4-1.js';
import type { Family, RendererOptions } from './family.js';
import { glm53 } from './glm5-3.js';
import { gptOss } from './gpt-oss.js';
import { kimi } from './kimi.js';
import { llama3 } from './llama3.js';
import { LOW_EFFORT, MEDIUM_EFFORT, nemotron3 } from './nemotron3.js';
import { qwen3 } from './qwen3.js';
import { qwen35 } from './qwen3-5.js';
import { qwen38 } from './qwen3-8.js';
import { qwen3Vl } from './qwen3-vl.js';
import { roleColon } from './role-colon.js';
import { tmlV0 } from './tml-v0.js';

/** A renderer by name: its family, and which options it takes. */
export interface BuiltIn {
  readonly family: Family;
  readonly options: readonly (keyof RendererOptions)[];
}

const STRIPPING = ['stripThinkingFromHistory'] as const;
const VISION = [...STRIPPING, 'countImageTokens'] as const;
const DEEPSEEK_V3 = [...STRIPPING, 'systemRoleAsUser'] as const;

/** Every renderer there is. */
export const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  role_colon: { family: roleColon, options: [] },
  llama3: { family: llama3, options: [] },
  qwen3: { family: qwen3({ framesThinking: true }), options: STRIPPING },
  qwen3_disable_thinking: { family: qwen3({ framesThinking: true, disablesThinking: true }), options: STRIPPING },
  qwen3_instruct: { family: qwen3({ framesThinking: false }), options: STRIPPING },
  qwen3_vl: { family: qwen3Vl({ framesThinking: true }), options: VISION },
  qwen3_vl_instruct: { family: qwen3Vl({ framesThinking: false }), options: VISION },
  qwen3_5: { family: qwen35(), options: VISION },
  qwen3_5_disable_thinking: { family: qwen35({ disablesThinking: true }), options: VISION },
  qwen3_5_preserve_thinking: { family: qwen35({ stripsByDefault: false }), options: VISION },
  qwen3_8_xhigh_reasoning: { family: qwen38('xhigh'), options: VISION },
  qwen3_8_medium_reasoning: { family: qwen38('medium'), options: VISION },
  qwen3_8_low_reasoning: { family: qwen38('low'), options: VISION },
  qwen3_8_disable_thinking: { family: qwen38('none'), options: VISION },
  nemotron3: { family: nemotron3(), options: STRIPPING },
  nemotron3_low_thinking: { family: nemotron3({ effortSuffix: LOW_EFFORT }), options: STRIPPING },
  nemotron3_disable_thinking: { family: nemotron3({ disablesThinking: true }), options: STRIPPING },
  nemotron3_preserve_thinking: { family: nemotron3({ stripsByDefault: false }), options: STRIPPING },
  nemotron3_ultra: { family: nemotron3({ isUltra: true }), options: VISION },
  nemotron3_ultra_disable_thinking: { family: nemotron3({ isUltra: true, disablesThinking: true }), options: VISION },
  nemotron3_ultra_medium_thinking: { family: nemotron3({ isUltra: true, effortSuffix: MEDIUM_EFFORT }), options: VISION },
  nemotron3_ultra_preserve_thinking: { family: nemotron3({ isUltra: true, stripsByDefault: false }), options: VISION },
  deepseekv3: { family: deepseekV3({ thinks: false }), options: DEEPSEEK_V3 },
  deepseekv3_disable_thinking: { family: deepseekV3({ thinks: false }), options: DEEPSEEK_V3 },
  deepseekv3_thinking: { family: deepseekV3({ thinks: true }), options: DEEPSEEK_V3 },
  deepseekv4_1: { family: deepseekV41({ budget: 75 }), options: STRIPPING },
  deepseekv4_1_low_reasoning: { family: deepseekV41({ budget: 50 }), options: STRIPPING },
  deepseekv4_1_max_reasoning: { family: deepseekV41({ budget: 100 }), options: STRIPPING },
  deepseekv4_1_disable_thinking: { family: deepseekV41({}), options: STRIPPING },
  deepseekv4_1_preserve_thinking: { family: deepseekV41({ budget: 75, stripsByDefault: false }), options: STRIPPING },
  kimi_k2: { family: kimi(), options: STRIPPING },
  kimi_k25: { family: kimi({ isK25: true }), options: VISION },
  kimi_k25_disable_thinking: { family: kimi({ isK25: true, disablesThinking: true }), options: VISION },
  kimi_k26: { family: kimi({ isK25: true }), options: VISION },
  kimi_k26_disable_thinking: { family: kimi({ isK25: true, disablesThinking: true }), options: VISION },
  kimi_k26_preserve_thinking: { family: kimi({ isK25: true, stripsByDefault: false }), options: VISION },
  glm5_3_max_reasoning: { family: glm53('Max'), options: STRIPPING },
  glm5_3_high_reasoning: { family: glm53('High'), options: STRIPPING },
  glm5_3_low_reasoning: { family: glm53('Low'), options: STRIPPING },
  gpt_oss_no_sysprompt: { family: gptOss(), options: [] },
  gpt_oss_low_reasoning: { family: gptOss('low'), options: ['currentDate'] },
  gpt_oss_medium_reasoning: { family: gptOss('medium'), options: ['currentDate'] },
  gpt_oss_high_reasoning: { family: gptOss('high'), options: ['currentDate'] },
  tml_v0: { family: tmlV0, options: ['effort'] },
};
