import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { CompletionEvent } from '@tinkex/renderers';
import { finishReasonOf, metadataOf, toolCallPart, usageOf } from './answer.js';

type BlockKind = 'text' | 'reasoning';

/** Turns the events of an answer into the parts of a stream: every block is started, filled and ended before the next one begins. */
export async function* streamParts(
  events: AsyncIterable<CompletionEvent>,
  returnTokens: boolean,
  createId: () => string,
): AsyncGenerator<LanguageModelV3StreamPart, void, undefined> {
  let open: { readonly kind: BlockKind; readonly id: string } | undefined;
  let blocks = 0;

  function* end(): Generator<LanguageModelV3StreamPart> {
    if (open !== undefined) yield { type: `${open.kind}-end`, id: open.id };
    open = undefined;
  }

  function* say(kind: BlockKind, delta: string): Generator<LanguageModelV3StreamPart> {
    if (open?.kind !== kind) {
      yield* end();
      open = { kind, id: String(blocks++) };
      yield { type: `${kind}-start`, id: open.id };
    }
    yield { type: `${kind}-delta`, id: open.id, delta };
  }

  for await (const event of events) {
    switch (event.type) {
      case 'text':
        yield* say('text', event.text);
        break;
      case 'thinking':
        yield* say('reasoning', event.thinking);
        break;
      case 'toolCall': {
        yield* end();
        const call = toolCallPart(event.toolCall, createId);
        yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName };
        yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input };
        yield { type: 'tool-input-end', id: call.toolCallId };
        yield call;
        break;
      }
      case 'completion':
        yield* end();
        yield {
          type: 'finish',
          finishReason: finishReasonOf(event.completion),
          usage: usageOf(event.completion),
          providerMetadata: metadataOf(event.completion, returnTokens),
        };
        break;
      default:
        break;
    }
  }
}
