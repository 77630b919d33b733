import {
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3StreamPart,
  type LanguageModelV3StreamResult,
  NoSuchModelError,
} from '@ai-sdk/provider';
import type { ModelDirectory } from '@tinkex/gateway';
import { Generation, type GenerationLimits } from '@tinkex/gateway/generation';
import { AbortedError } from '@tinkex/types';
import { contentOf, finishReasonOf, metadataOf, usageOf } from './answer.js';
import { callError } from './call-error.js';
import { type ReadCall, readCall } from './generation-request.js';
import { readProviderOptions, type TinkexCallOptions } from './provider-options.js';
import { streamParts } from './stream-parts.js';

interface OpenCall extends ReadCall {
  readonly generation: Generation;
  readonly own: TinkexCallOptions;
  /** Stops the sampling. */
  readonly stop: AbortController;
  /** Stops listening to the caller's signal. */
  readonly release: () => void;
}

/** A model that you trained, as a language model of the AI SDK. */
export class TinkexLanguageModel implements LanguageModelV3 {
  readonly specificationVersion = 'v3';
  readonly provider = 'tinkex';
  readonly modelId: string;
  /** The AI SDK downloads files itself: templates take images as data. */
  readonly supportedUrls: Record<string, RegExp[]> = {};
  readonly #directory: ModelDirectory;
  readonly #limits: GenerationLimits;

  constructor(modelId: string, directory: ModelDirectory, limits: GenerationLimits) {
    this.modelId = modelId;
    this.#directory = directory;
    this.#limits = limits;
  }

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    const { generation, warnings, own, release } = await this.#open(options);
    try {
      const completion = await generation.complete();
      return {
        content: contentOf(completion, createId),
        finishReason: finishReasonOf(completion),
        usage: usageOf(completion),
        warnings,
        providerMetadata: metadataOf(completion, own.returnTokens === true),
        response: this.#responseFacts(),
      };
    } catch (error) {
      throw callError(error, this.modelId);
    } finally {
      release();
    }
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    const call = await this.#open(options);
    const parts = this.#parts(call);
    const stream = new ReadableStream<LanguageModelV3StreamPart>({
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      async cancel(reason) {
        call.stop.abort(reason);
        await parts.return();
      },
    });
    return { stream };
  }

  async *#parts({ generation, warnings, own, release }: OpenCall): AsyncGenerator<LanguageModelV3StreamPart, void, undefined> {
    try {
      yield { type: 'stream-start', warnings };
      yield { type: 'response-metadata', ...this.#responseFacts() };
      yield* streamParts(generation.stream(), own.returnTokens === true, createId);
    } catch (error) {
      if (AbortedError.isInstance(error)) throw error;
      yield { type: 'error', error: callError(error, this.modelId) };
    } finally {
      release();
    }
  }

  /** Reads the call, finds the model and renders the prompt: what can be refused is refused before anything is sampled. */
  async #open(options: LanguageModelV3CallOptions): Promise<OpenCall> {
    const own = readProviderOptions(options.providerOptions);
    const stop = new AbortController();
    const release = follow(options.abortSignal, stop);
    try {
      const call = readCall(this.modelId, options, own);
      const model = await this.#directory.find(this.modelId);
      if (model === undefined) throw new NoSuchModelError({ modelId: this.modelId, modelType: 'languageModel' });
      return { ...call, own, stop, release, generation: new Generation(model, call.request, this.#limits, stop.signal) };
    } catch (error) {
      release();
      throw callError(error, this.modelId);
    }
  }

  #responseFacts(): { readonly id: string; readonly modelId: string; readonly timestamp: Date } {
    return { id: createId(), modelId: this.modelId, timestamp: new Date() };
  }
}

/** Aborts with the caller's signal, until released. */
function follow(signal: AbortSignal | undefined, stop: AbortController): () => void {
  const abort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

function createId(): string {
  return crypto.randomUUID();
}
