import { encodeText } from '@tinkex/http/runtime';
import { ModelInput, type SamplingParams } from '@tinkex/types';
import { endpoints, type SampleRequest, stringifyJson } from '@tinkex/types/wire';

/** Values that stand for the changing parts while a template is written; no real request has both. */
const TOKEN_MARK = 2_147_483_647;
const SEQ_ID_MARK = 9_007_199_254_740_991;
const MAX_TEMPLATES = 64;

/** A request's text around its tokens and its sequence ID. */
interface Template {
  readonly beforeTokens: string;
  readonly between: string;
  readonly afterSeqId: string;
}

/** All of a request but its prompt and its sequence ID. */
type Settings = { readonly [Field in Exclude<keyof SampleRequest, 'prompt' | 'seqId'>]?: SampleRequest[Field] | undefined };

/**
 * Writes sample requests as JSON. Most calls of a client differ only in tokens and sequence ID: the rest is checked and written once by
 * the codec and then reused, which takes a request from tens of microseconds to a few.
 */
export class SampleRequestEncoder {
  readonly #templates = new Map<string, Template | undefined>();
  /** The settings of the previous request: most often those of the next as well. */
  #latest: { readonly settings: Settings; readonly template: Template | undefined } | undefined;

  encode(request: SampleRequest): Uint8Array {
    const tokens = plainTokens(request.prompt);
    const template = tokens === undefined ? undefined : this.#template(request);
    if (tokens === undefined || template === undefined) return encodeText(stringifyJson(endpoints.asample.request.encode(request)));
    return encodeText(template.beforeTokens + tokens.join(',') + template.between + String(request.seqId) + template.afterSeqId);
  }

  #template(request: SampleRequest): Template | undefined {
    const { samplingParams } = request;
    if (samplingParams !== undefined && !isPlain(samplingParams)) return undefined;
    // As large as the prompt, and different for each.
    if (request.targetPromptLogprobs !== undefined) return undefined;
    if (this.#latest !== undefined && isAlike(this.#latest.settings, request)) return this.#latest.template;
    // Copies, because callers may change and reuse their object, and without the prompt, which may be large.
    const settings = { ...request, prompt: undefined, seqId: undefined, samplingParams: samplingParams && copyParams(samplingParams) };
    const template = this.#find(settings, request);
    this.#latest = { settings, template };
    return template;
  }

  #find(settings: Settings, request: SampleRequest): Template | undefined {
    let key: string;
    try {
      key = JSON.stringify(settings);
    } catch {
      // It refuses a bigint; a request with one is rare enough for the codec, which knows where it may be.
      return undefined;
    }
    if (this.#templates.has(key)) return this.#templates.get(key);
    if (this.#templates.size >= MAX_TEMPLATES) this.#templates.clear();
    const template = makeTemplate(request);
    this.#templates.set(key, template);
    return template;
  }
}

function copyParams(params: SamplingParams): SamplingParams {
  return Array.isArray(params.stop) ? { ...params, stop: [...params.stop] } : { ...params };
}

/** Whether a request has the same settings as the one before. */
function isAlike(a: Settings, b: Settings): boolean {
  return (
    a.numSamples === b.numSamples &&
    a.promptLogprobs === b.promptLogprobs &&
    a.topkPromptLogprobs === b.topkPromptLogprobs &&
    a.topkSampleLogprobs === b.topkSampleLogprobs &&
    a.promptAltTokensK === b.promptAltTokensK &&
    a.promptLogprobsLastN === b.promptLogprobsLastN &&
    a.recordStabilityInfo === b.recordStabilityInfo &&
    a.samplingSessionId === b.samplingSessionId &&
    a.baseModel === b.baseModel &&
    a.modelPath === b.modelPath &&
    haveSamePlainFields(a.samplingParams, b.samplingParams)
  );
}

function haveSamePlainFields(a: object | undefined, b: object | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const known = a as Readonly<Record<string, unknown>>;
  const given = b as Readonly<Record<string, unknown>>;
  let fields = 0;
  for (const name in given) {
    const value = given[name];
    // A field that is undefined would be counted against another one that is missing.
    if (value === undefined || !isSameValue(value, known[name])) return false;
    fields += 1;
  }
  for (const _ in known) fields -= 1;
  return fields === 0;
}

/** Compares texts, numbers and flat lists of them. Other objects are never the same. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a)) return typeof a !== 'object' && a === b;
  return Array.isArray(b) && a.length === b.length && a.every((item, index) => typeof item !== 'object' && item === b[index]);
}

/** Whether an object inherits no fields: a copy and `JSON.stringify` see only own fields. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Encodes and so checks everything but tokens and sequence ID; throws what the codec throws. */
function makeTemplate(request: SampleRequest): Template | undefined {
  const marked = { ...request, prompt: ModelInput.fromInts([TOKEN_MARK]), seqId: SEQ_ID_MARK };
  const parts = stringifyJson(endpoints.asample.request.encode(marked)).split(String(TOKEN_MARK));
  const [beforeTokens, rest] = parts;
  const [between, afterSeqId] = rest?.split(String(SEQ_ID_MARK)) ?? [];
  const isClear = parts.length === 2 && rest?.split(String(SEQ_ID_MARK)).length === 2;
  // A value of the user's that looks like a mark: leave such a request to the codec.
  return isClear && beforeTokens !== undefined && between !== undefined && afterSeqId !== undefined
    ? { beforeTokens, between, afterSeqId }
    : undefined;
}

/** The tokens of a prompt of one text chunk, which are checked int32 values; undefined for any other prompt. */
function plainTokens(prompt: ModelInput): Int32Array | undefined {
  const [chunk] = prompt.chunks;
  return prompt.chunks.length === 1 && chunk?.type === 'encoded_text' && chunk.tokens instanceof Int32Array ? chunk.tokens : undefined;
}
