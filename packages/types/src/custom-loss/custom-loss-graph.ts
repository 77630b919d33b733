/** How many dimensions an input has: 0 is a single number, 1 is `[T]`, 2 is `[T, K]`. */
export type CustomLossInputRank = 0 | 1 | 2;

/** One input of a custom loss, with the rank that every datum's value has. */
export interface CustomLossInput {
  /** `logprobs`, or the name of a loss function input on the wire. */
  readonly name: string;
  readonly rank: CustomLossInputRank;
}

/** The kinds of nodes that a graph may name. `get_attr` and `call_module` exist in the protocol and are always refused. */
export const CUSTOM_LOSS_NODE_OPS = ['placeholder', 'get_attr', 'call_function', 'call_method', 'call_module', 'output'] as const;

/** The kind of a node. */
export type CustomLossNodeOp = (typeof CUSTOM_LOSS_NODE_OPS)[number];

/**
 * An argument of a node. JSON scalars and lists stand for themselves; everything else is an object with one key, which says what it
 * is. `ref` names an earlier node.
 */
export type CustomLossArgument =
  | null
  | boolean
  | number
  | string
  | readonly CustomLossArgument[]
  | { readonly ref: string }
  | { readonly tuple: readonly CustomLossArgument[] }
  | { readonly dict: Readonly<Record<string, CustomLossArgument>> }
  | { readonly slice: readonly [CustomLossArgument, CustomLossArgument, CustomLossArgument] }
  | { readonly ellipsis: true }
  | { readonly float: 'inf' | '-inf' | 'nan' }
  | { readonly dtype: string }
  | { readonly device: string }
  | { readonly layout: string }
  | { readonly memory_format: string };

/** One step of a custom loss, as torch.fx records it. */
export interface CustomLossNode {
  readonly op: CustomLossNodeOp;
  /** Unique within the graph. */
  readonly name: string;
  /** The input (`placeholder`), the qualified function such as `torch.exp`, the method, or `output`. */
  readonly target: string;
  readonly args: readonly CustomLossArgument[];
  readonly kwargs: Readonly<Record<string, CustomLossArgument>>;
}

/** A custom loss as plain data: its nodes in the order of execution. */
export interface CustomLossGraph {
  readonly format: 1;
  readonly nodes: readonly CustomLossNode[];
}

/** Everything that defines a custom loss. */
export interface CustomLossDefinition {
  readonly name: string;
  /** The graph's inputs in order, `logprobs` first. */
  readonly inputs: readonly CustomLossInput[];
  readonly graph: CustomLossGraph;
}
