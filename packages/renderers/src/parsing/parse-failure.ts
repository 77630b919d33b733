import { firstCodePoints } from '../core/python-text.js';
import type { Termination } from '../core/renderer.js';
import type { Message } from '../messages/message.js';

/** Why a response is not usable. */
export interface ParseFailure {
  /** `structural`: the response did not end as it should. `content`: it did, but a tool call in it cannot be read. */
  readonly kind: 'structural' | 'content';
  readonly detail: string;
}

/** The reference's words: both languages log the same. */
const STRUCTURAL =
  "response did not terminate cleanly (termination=malformed): expected the renderer's stop signal or EOS, so the message framing is broken";
const MAX_DETAIL_CODE_POINTS = 16384;

/** What is wrong with a response, or undefined. */
export function classifyParseFailure({ unparsedToolCalls = [] }: Message, termination: Termination): ParseFailure | undefined {
  if (termination === 'malformed') return { kind: 'structural', detail: STRUCTURAL };
  if (unparsedToolCalls.length === 0) return undefined;
  const detail = unparsedToolCalls.map(({ error }) => error).join('\n');
  return { kind: 'content', detail: firstCodePoints(detail, MAX_DETAIL_CODE_POINTS) };
}
