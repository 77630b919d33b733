import type { Grammar } from '../core/grammar.js';
import type { RendererTokenizer } from '../core/tokenizer.js';

/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Options of a renderer. Which of them a renderer takes depends on its family; others are refused. */
export interface RendererOptions {
  /** Whether thinking of earlier turns is left out. Default: as the model's own template does it. */
  readonly stripThinkingFromHistory?: boolean | undefined;
  /** How many tokens an image takes, by its size. Needed as soon as a message has an image; the model's image processor defines it. */
  readonly countImageTokens?: ((size: ImageSize) => number) | undefined;
  /** `deepseekv3` only: write a system message that is not the first as a user message. Default: refuse it. */
  readonly systemRoleAsUser?: boolean | undefined;
  /** `gpt_oss` with a system prompt only: the date in it, as `YYYY-MM-DD`. Default: today, in UTC. */
  readonly currentDate?: string | undefined;
  /** `tml_v0` only: how hard the model thinks, from 0 to below 1. Default 0.9. */
  readonly effort?: number | undefined;
}

/** What a family's grammar is made of. */
export interface FamilySetup {
  readonly tokenizer: RendererTokenizer;
  readonly options: RendererOptions;
}

/** Makes the grammar of one renderer name. */
export type Family = (setup: FamilySetup) => Grammar;
