import {
  CUSTOM_LOSS_NODE_OPS,
  type CustomLossArgument,
  type CustomLossGraph,
  type CustomLossInput,
  type CustomLossInputRank,
  type CustomLossNode,
} from '../custom-loss/custom-loss-graph.js';
import { argumentProblem } from '../custom-loss/graph-arguments.js';
import { expected } from '../errors/issue-text.js';
import { list, mapOf } from './collections.js';
import { requestObject, requestType, responseObject } from './objects.js';
import { integer, oneOf, text } from './scalars.js';
import { literal } from './schema.js';
import { filled, type WireType } from './wire-type.js';

/** An argument travels as it is written: the names in it are those of torch. */
const argument: WireType<CustomLossArgument> = {
  schema: () => (value, issues) => {
    const problem = argumentProblem(value);
    if (problem !== undefined) issues.push({ path: [], message: problem });
    return value;
  },
  toWire: (value) => value,
  fromWire: (wire) => withFloats(wire) as CustomLossArgument,
};

/** Numbers beyond 2^53 are floats here, as all numbers of a loss. */
function withFloats(wire: unknown): unknown {
  if (typeof wire === 'bigint') return Number(wire);
  if (Array.isArray(wire)) return wire.map(withFloats);
  if (typeof wire !== 'object' || wire === null) return wire;
  return Object.fromEntries(Object.entries(wire).map(([key, value]) => [key, withFloats(value)]));
}

const node = requestType<CustomLossNode>({
  op: oneOf(...CUSTOM_LOSS_NODE_OPS),
  name: text({ isNonEmpty: true }),
  target: text({ isNonEmpty: true }),
  args: filled(list(argument), () => []),
  kwargs: filled(mapOf(argument), () => ({})),
});

const format: WireType<1> = {
  schema: () => literal(1, expected('1')),
  toWire: (value) => value,
  fromWire: () => 1,
};

const graph = requestType<CustomLossGraph>({ format: filled(format, () => 1), nodes: list(node, { min: 1 }) });

const input = requestType<CustomLossInput>({
  name: text({ isNonEmpty: true }),
  rank: integer({ min: 0, max: 2 }) as unknown as WireType<CustomLossInputRank>,
});

/** Stores a traced loss in the session. Answered by a future of a {@link CreateCustomLossResponse}. */
export interface CreateCustomLossRequest {
  readonly sessionId: string;
  /** From 0 up, in the session. */
  readonly customLossSeqId: number;
  readonly name: string;
  /** The graph's inputs in order, `logprobs` first. */
  readonly inputs: readonly CustomLossInput[];
  readonly graph: CustomLossGraph;
}

/** {@link CreateCustomLossRequest} on the wire. */
export const createCustomLossRequest = requestObject<CreateCustomLossRequest>(
  'CreateCustomLossRequest',
  { sessionId: text(), customLossSeqId: integer({ min: 0 }), name: text({ isNonEmpty: true }), inputs: list(input, { min: 1 }), graph },
  { tag: 'create_custom_loss' },
);

/** The loss is stored. */
export interface CreateCustomLossResponse {
  /** Names the loss in passes of the same session, as the setting `loss_id` of the loss function `custom`. */
  readonly lossId: string;
}

/** {@link CreateCustomLossResponse} on the wire. */
export const createCustomLossResponse = responseObject<CreateCustomLossResponse>(
  'CreateCustomLossResponse',
  { lossId: text() },
  { tag: 'create_custom_loss' },
);
