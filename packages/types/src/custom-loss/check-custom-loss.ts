import { invalidRequest, type ValidationError } from '../errors/validation-error.js';
import type { CustomLossArgument, CustomLossDefinition, CustomLossNode } from './custom-loss-graph.js';
import { customLossInputsProblem, isCustomLossMetricName, METRIC_NAME_RULE } from './custom-loss-names.js';
import { isArgumentList, referencesOf } from './graph-arguments.js';
import { operationOf } from './operations.js';

const MAX_NODES = 10_000;

/** What a checked graph returns: the nodes of its loss and of its metrics. */
export interface CustomLossOutput {
  readonly loss: string;
  readonly metrics: readonly (readonly [name: string, node: string])[];
}

/**
 * Checks that a custom loss can be executed: inputs, names, order, allowed operations, output.
 *
 * @throws `ValidationError` that names the first node that cannot.
 */
export function checkCustomLoss({ name, inputs, graph: { nodes } }: CustomLossDefinition): CustomLossOutput {
  const problem = customLossInputsProblem(inputs);
  if (problem !== undefined) throw refusedLoss(name, 'inputs', problem);
  if (nodes.length > MAX_NODES) throw refusedLoss(name, 'graph', `has ${nodes.length} nodes; at most ${MAX_NODES} are supported`);
  const known = new Set<string>();
  const wanted = inputs.map((input) => input.name);
  for (const [index, node] of nodes.entries()) {
    const reason = nodeProblem(node, known, wanted, index === nodes.length - 1);
    if (reason !== undefined) throw refusedNode(name, node, reason);
    known.add(node.name);
  }
  if (wanted.length > 0) throw refusedLoss(name, 'graph', `has no placeholder for the input '${wanted[0]}'`);
  const output = nodes.at(-1);
  if (output?.op !== 'output') throw refusedLoss(name, 'graph', 'must end with an output node');
  return outputOf(name, output);
}

/** A refusal that names the node. */
export function refusedNode(lossName: string, { name, target }: CustomLossNode, reason: string): ValidationError {
  return refusedLoss(lossName, '', `node '${name}' (${target}) ${reason}`);
}

/** A refusal of a custom loss. */
export function refusedLoss(lossName: string, path: string, reason: string): ValidationError {
  return invalidRequest(`custom loss '${lossName}'`, path, reason);
}

/** Takes the name of an input that has its placeholder out of `wanted`. */
function nodeProblem(node: CustomLossNode, known: ReadonlySet<string>, wanted: string[], isLast: boolean): string | undefined {
  const { op, name, target, args, kwargs } = node;
  if (known.has(name)) return 'has the name of an earlier node';
  const missing = [...args, ...Object.values(kwargs)].flatMap(referencesOf).find((reference) => !known.has(reference));
  if (missing !== undefined) return `refers to '${missing}', which is not an earlier node`;
  if (op === 'placeholder') return target === wanted.shift() ? undefined : 'must be the next of the declared inputs';
  if (op === 'output') return isLast ? undefined : 'is not the last node';
  if (op === 'get_attr') return 'reads a captured tensor; a custom loss reads only logprobs and its inputs';
  if (op === 'call_module') return 'calls a module; a custom loss calls only functions and methods';
  if (operationOf(node) === undefined) return 'is not an allowed operation';
  return undefined;
}

function outputOf(lossName: string, node: CustomLossNode): CustomLossOutput {
  const [loss, metrics] = pairOf(node.args[0]) ?? [];
  const lossNode = referenceOf(loss);
  if (lossNode === undefined || !isObject(metrics) || !('dict' in metrics)) {
    throw refusedNode(lossName, node, 'must return the loss and a dictionary of metrics');
  }
  return {
    loss: lossNode,
    metrics: Object.entries(metrics.dict).map(([metric, value]) => {
      const metricNode = referenceOf(value);
      if (!isCustomLossMetricName(metric)) throw refusedNode(lossName, node, `has the metric '${metric}', which ${METRIC_NAME_RULE}`);
      if (metricNode === undefined) throw refusedNode(lossName, node, `has the metric '${metric}', which is not a computed value`);
      return [metric, metricNode] as const;
    }),
  };
}

function pairOf(argument: CustomLossArgument | undefined): readonly CustomLossArgument[] | undefined {
  const items = isArgumentList(argument) ? argument : isObject(argument) && 'tuple' in argument ? argument.tuple : undefined;
  return items?.length === 2 ? items : undefined;
}

function referenceOf(argument: CustomLossArgument | undefined): string | undefined {
  return isObject(argument) && 'ref' in argument ? argument.ref : undefined;
}

type ObjectArgument = Exclude<CustomLossArgument, null | boolean | number | string | readonly CustomLossArgument[]>;

function isObject(argument: CustomLossArgument | undefined): argument is ObjectArgument {
  return typeof argument === 'object' && argument !== null && !isArgumentList(argument);
}
