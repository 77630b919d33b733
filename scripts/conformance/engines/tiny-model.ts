import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeSafetensors, type NamedTensor } from '../../../packages/testkit/src/engine/safetensors.js';

const HIDDEN = 64;
const MLP = 128;
const LAYERS = 2;
const HEADS = 4;
const KEY_HEADS = 2;
const HEAD = 16;
const SPECIAL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|pad|>'];
const VOCABULARY = 256 + SPECIAL_TOKENS.length;

/** Writes a random two-layer Qwen3 model with a tokenizer of bytes: small enough for any machine, and the same on each. */
export async function writeTinyModel(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files: Readonly<Record<string, unknown>> = {
    'config.json': modelConfig(),
    'generation_config.json': { eos_token_id: 258, pad_token_id: 256 },
    'tokenizer.json': tokenizer(),
    'tokenizer_config.json': tokenizerConfig(),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), `${JSON.stringify(content, null, 1)}\n`);
  await writeFile(join(folder, 'model.safetensors'), encodeSafetensors({ tensors: weights(), metadata: { format: 'pt' } }));
}

function modelConfig(): Readonly<Record<string, unknown>> {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    vocab_size: VOCABULARY,
    hidden_size: HIDDEN,
    intermediate_size: MLP,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
    num_key_value_heads: KEY_HEADS,
    head_dim: HEAD,
    max_position_embeddings: 512,
    hidden_act: 'silu',
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    attention_bias: false,
    tie_word_embeddings: true,
    torch_dtype: 'float32',
    dtype: 'float32',
    eos_token_id: 258,
    pad_token_id: 256,
  };
}

function weights(): NamedTensor[] {
  const random = normalNumbers(1);
  const matrix = (name: string, rows: number, columns: number): NamedTensor => ({
    name: `model.${name}.weight`,
    shape: [rows, columns],
    values: Float32Array.from({ length: rows * columns }, () => 0.02 * random()),
  });
  const ones = (name: string, size: number): NamedTensor => ({
    name: `model.${name}.weight`,
    shape: [size],
    values: new Float32Array(size).fill(1),
  });
  const layer = (index: number): NamedTensor[] => {
    const of = (name: string): string => `layers.${index}.${name}`;
    return [
      ones(of('input_layernorm'), HIDDEN),
      ones(of('post_attention_layernorm'), HIDDEN),
      matrix(of('self_attn.q_proj'), HEADS * HEAD, HIDDEN),
      matrix(of('self_attn.k_proj'), KEY_HEADS * HEAD, HIDDEN),
      matrix(of('self_attn.v_proj'), KEY_HEADS * HEAD, HIDDEN),
      matrix(of('self_attn.o_proj'), HIDDEN, HEADS * HEAD),
      ones(of('self_attn.q_norm'), HEAD),
      ones(of('self_attn.k_norm'), HEAD),
      matrix(of('mlp.gate_proj'), MLP, HIDDEN),
      matrix(of('mlp.up_proj'), MLP, HIDDEN),
      matrix(of('mlp.down_proj'), HIDDEN, MLP),
    ];
  };
  const layers = Array.from({ length: LAYERS }, (_, index) => layer(index)).flat();
  return [matrix('embed_tokens', VOCABULARY, HIDDEN), ...layers, ones('norm', HIDDEN)];
}

/** Normally distributed numbers that depend on the seed alone. */
function normalNumbers(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

function tokenizer(): Readonly<Record<string, unknown>> {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, index) => ({ id: 256 + index, content, ...special })),
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: null,
    decoder: bytes,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(byteCharacters().map((character, id) => [character, id])),
      merges: [],
    },
  };
}

function tokenizerConfig(): Readonly<Record<string, unknown>> {
  return { tokenizer_class: 'PreTrainedTokenizerFast', eos_token: '<|im_end|>', pad_token: '<|endoftext|>', model_max_length: 512 };
}

/** The characters that stand for the bytes 0 to 255 in byte-level vocabularies: printable ones for themselves, the others from U+0100. */
function byteCharacters(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCodePoint(isPrintable ? byte : next++);
  });
}
