import type { BaseLayout } from './base-layout.js';

/** Modules that are trained apart and are rows of one weight of the base model, in this order. */
export interface RowGroup {
  readonly target: string;
  readonly parts: readonly string[];
  /** Whether an adapter for PEFT has the one module. Otherwise it keeps the parts, and only a merge joins them. */
  readonly isJoinedInAdapter: boolean;
}

/** How the weights of a family of models are called. Tinker calls them the same in all families. */
export interface WeightFamily {
  readonly name: string;
  /** The projections of experts by Tinker's names. */
  readonly experts: Readonly<Record<string, string>>;
  /** In a weight that holds both, whether rows of gate and up alternate or follow each other. */
  readonly gateUp: 'alternating' | 'consecutive';
  readonly rowGroups: readonly RowGroup[];
  /** Tinker's module path as the model has it. */
  readonly rename?: ((path: string) => string) | undefined;
  /** A module path as the files of the base model spell it, where servers load it under another name. */
  readonly inBase?: ((path: string) => string) | undefined;
  /** Why no adapter can be made. */
  readonly noAdapter?: string | undefined;
}

const EXPERTS = { w1: 'gate_proj', w2: 'down_proj', w3: 'up_proj' };

const DEFAULT: WeightFamily = { name: 'default', experts: EXPERTS, gateUp: 'consecutive', rowGroups: [] };

const GPT_OSS: WeightFamily = {
  ...DEFAULT,
  name: 'gpt-oss',
  gateUp: 'alternating',
  rename: (path) => path.replace('.attn.', '.self_attn.'),
};

const NEMOTRON: WeightFamily = {
  ...DEFAULT,
  name: 'nemotron',
  experts: { w1: 'up_proj', w2: 'down_proj' },
  rowGroups: [{ target: 'in_proj', parts: ['gate_proj', 'x_proj'], isJoinedInAdapter: true }],
  inBase: (path) => path.replace(/^model\./, 'backbone.'),
};

const QWEN3_5: WeightFamily = {
  ...DEFAULT,
  name: 'qwen3.5',
  rowGroups: [{ target: 'in_proj_qkv', parts: ['in_proj_q', 'in_proj_k', 'in_proj_v'], isJoinedInAdapter: false }],
};

const KIMI_K25: WeightFamily = { ...DEFAULT, name: 'kimi-k2.5', inBase: (path) => `language_model.${path}` };

const DEEPSEEK_V3: WeightFamily = {
  ...DEFAULT,
  name: 'deepseek-v3',
  noAdapter: 'Servers cannot load adapters of DeepSeek V3. Merge it into the model with mergeAdapter() instead.',
};

/** The family of a base model, by its `config.json`. */
export function weightFamily({ config }: BaseLayout): WeightFamily {
  const architectures = Array.isArray(config['architectures']) ? config['architectures'].map(String) : [];
  const hasArchitecture = (part: string): boolean => architectures.some((name) => name.includes(part));
  const type = config['model_type'];
  if (hasArchitecture('GptOss')) return GPT_OSS;
  if (type === 'deepseek_v3') return DEEPSEEK_V3;
  if (hasArchitecture('NemotronH')) return NEMOTRON;
  if (type === 'qwen3_5' || type === 'qwen3_5_moe') return QWEN3_5;
  if (hasArchitecture('KimiK25')) return KIMI_K25;
  return DEFAULT;
}

/**
 * The paths of modules in the model, from Tinker's: the output layer is `lm_head`, or the embedding where they are one; the language part of a model
 * that also sees has its prefix.
 */
export function modelPaths(family: WeightFamily, { keys }: BaseLayout): (path: string) => string {
  const all = [...keys];
  const hasHead = all.some((key) => key === 'lm_head.weight' || key.endsWith('.lm_head.weight'));
  const hasLanguagePrefix = all.some((key) => key.startsWith('model.language_model.'));
  return (path) => {
    const isOutput = path === 'model.unembed_tokens' || path === 'model.lm_head' || path === 'lm_head';
    if (isOutput && hasHead) return 'lm_head';
    const renamed = isOutput ? 'model.embed_tokens' : (family.rename?.(path) ?? path);
    return hasLanguagePrefix ? renamed.replace(/^model\./, 'model.language_model.') : renamed;
  };
}
