export {
  type GetLrOptions,
  getLoraParamCount,
  getLr,
  type LoraParamCountOptions,
  type LoraParamsPerRank,
  type Modality,
  type ModelInfo,
  modelInfo,
  modelNames,
} from '@tinkex/types/models';
export {
  type Completer,
  type CompleterOptions,
  type Completion,
  type CompletionEvent,
  type CompletionOptions,
  type CompletionUsage,
  createCompleter,
} from './completer/completer.js';
export type { CompletionChoice, FinishReason } from './completer/response-reader.js';
export { DEFAULT_PIECE_TOKENS, type PiecesOptions, type SampledPiece, sampleInPieces } from './completer/sample-in-pieces.js';
export type { AbortSignalLike, Sampler, SamplerCallOptions, SamplerInput } from './completer/sampler.js';
export type {
  FinishedResponse,
  GenerationPromptOptions,
  ParsedResponse,
  Renderer,
  ResponseDelta,
  ResponseStream,
  StreamOptions,
  SupervisedExample,
  Termination,
  TrainOnWhat,
} from './core/renderer.js';
export type { AddedTokens, EncodeOptions, RendererTokenizer } from './core/tokenizer.js';
export type { ImageSize, RendererOptions } from './families/family.js';
export { fromAlpaca, toAlpaca } from './messages/alpaca.js';
export type { Conversation } from './messages/conversation.js';
export type {
  AudioPart,
  Content,
  ContentPart,
  ImageFile,
  ImagePart,
  Message,
  Role,
  TextPart,
  ThinkingPart,
  ToolCall,
  UnparsedToolCall,
} from './messages/message.js';
export { decodeMessage, encodeMessage } from './messages/message-json.js';
export { fromOpenAI, toOpenAI } from './messages/openai.js';
export { fromShareGpt, toShareGpt } from './messages/share-gpt.js';
export { type JsonSchemaSource, type ToolOptions, type ToolSpec, tool } from './messages/tool.js';
export { classifyParseFailure, type ParseFailure } from './parsing/parse-failure.js';
export {
  getRecommendedRendererName,
  getRenderer,
  type RendererFactory,
  registerRenderer,
  rendererForModel,
  rendererNames,
} from './registry.js';
export { compareRenderers, type DifferingToken, type RendererComparison, type RendererDifference } from './templates/compare-renderers.js';
export type { ByteLevelTokenizer } from './tokenizers/bpe-tokenizer.js';
export { type HuggingFaceTokenizer, huggingFaceTokenizer } from './tokenizers/hugging-face-tokenizer.js';
export { KIMI_SPLIT_PATTERN, type TiktokenOptions, tiktokenTokenizer } from './tokenizers/tiktoken-tokenizer.js';
export { toRendererTokenizer } from './tokenizers/to-renderer-tokenizer.js';
export type { TokenizerConfig, TokenizerConfigToken } from './tokenizers/tokenizer-config.js';
export {
  bpeTokenizer,
  type TokenizerJson,
  type TokenizerJsonAddedToken,
  type TokenizerJsonModel,
  type TokenizerJsonStep,
} from './tokenizers/tokenizer-json.js';
export {
  type ConversationData,
  type ConversationToDatumOptions,
  conversationToData,
  conversationToDatum,
  type ExampleReport,
} from './training/conversation-to-datum.js';
export { type DatumFromWeightsOptions, datumFromModelInputWeights, type Reduction } from './training/datum-from-weights.js';
export { type ShowExampleOptions, showExample } from './view/show-example.js';
export { EXAMPLE_STYLE, showExampleHtml } from './view/show-example-html.js';
export { type ShownToken, shownTokens } from './view/shown-tokens.js';
