import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import { lossInputDomainName } from '../training/loss-fn-inputs.js';
import { checkCustomLoss, refusedLoss, refusedNode } from './check-custom-loss.js';
import type { CustomLossDefinition, CustomLossInputRank, CustomLossNode } from './custom-loss-graph.js';
import { GraphTensor, RefusedOperation, shapeText } from './graph-tensor.js';
import { argumentValue, type GraphValue } from './graph-values.js';
import type { Operation } from './operation.js';
import { operationOf, runOperation } from './operations.js';

/** The log-probabilities of one datum's targets. */
export interface DatumLogprobs {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** A custom loss over some data. */
export interface CustomLossValue {
  /** The losses of all data, added up. */
  readonly loss: number;
  /** The derivative of the loss with respect to the logprobs of each datum. */
  readonly gradients: readonly Float64Array[];
  /** `:sum` metrics added up, `:mean` metrics divided by the number of data. */
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * An executable custom loss. Computes in float64; the gradient is exact (reverse mode). The client and the test server run the same
 * program, so that a loss means the same in both.
 */
export interface CustomLossProgram {
  readonly definition: CustomLossDefinition;
  /**
   * Runs the loss on each datum.
   *
   * @throws `ValidationError` that names the datum or the node, when a datum lacks an input or a node cannot compute with its shape.
   */
  readonly run: (data: readonly Datum[], logprobs: readonly DatumLogprobs[]) => CustomLossValue;
}

/**
 * Makes a custom loss executable.
 *
 * @throws `ValidationError` that names the first node that is not allowed.
 */
export function compileCustomLoss(definition: CustomLossDefinition): CustomLossProgram {
  const output = checkCustomLoss(definition);
  const { name, inputs, graph } = definition;
  const steps = graph.nodes
    .filter(({ op }) => op === 'call_function' || op === 'call_method')
    .map((node) => ({ node, operation: operationOf(node) as Operation }));
  const placeholders = graph.nodes.filter(({ op }) => op === 'placeholder').map((node) => node.name);

  const runDatum = (datum: Datum, index: number, given: DatumLogprobs) => {
    const logprobs = GraphTensor.variable(given.shape, Float64Array.from(given.data));
    const values = new Map<string, GraphValue>();
    for (const [place, { name: inputName, rank }] of inputs.entries()) {
      const value = place === 0 ? logprobs : inputTensor(datum.lossFnInputs[lossInputDomainName(inputName)], rank);
      const path = `data[${index}].${place === 0 ? 'logprobs' : `lossFnInputs.${lossInputDomainName(inputName)}`}`;
      if (value === undefined) throw refusedLoss(name, path, 'is missing; the loss reads it');
      if (value.shape.length !== rank) throw refusedLoss(name, path, `has shape ${shapeText(value.shape)}; the loss declares rank ${rank}`);
      values.set(placeholders[place] as string, value);
    }
    for (const { node, operation } of steps) values.set(node.name, runNode(name, index, node, operation, values));
    const loss = values.get(output.loss);
    if (!(loss instanceof GraphTensor && loss.shape.length === 0)) {
      throw refusedLoss(name, `data[${index}]`, `gives a loss that is not a single number: node '${output.loss}' is ${valueText(loss)}`);
    }
    loss.backpropagate();
    const metrics = output.metrics.map(([metric, node]) => [metric, metricNumber(name, metric, values.get(node))] as const);
    return { loss: loss.data[0] as number, gradient: logprobs.gradient, metrics };
  };

  return {
    definition,
    run(data, logprobs) {
      const totals = { loss: 0, metrics: new Map<string, number>() };
      const gradients = data.map((datum, index) => {
        const { loss, gradient, metrics } = runDatum(datum, index, logprobs[index] as DatumLogprobs);
        totals.loss += loss;
        for (const [metric, value] of metrics) totals.metrics.set(metric, (totals.metrics.get(metric) ?? 0) + value);
        return gradient;
      });
      const reduced = [...totals.metrics].map(([metric, sum]) => [metric, metric.endsWith(':mean') ? sum / data.length : sum]);
      return { loss: totals.loss, gradients, metrics: Object.fromEntries(reduced) };
    },
  };
}

function runNode(
  lossName: string,
  index: number,
  node: CustomLossNode,
  operation: Operation,
  values: ReadonlyMap<string, GraphValue>,
): GraphValue {
  try {
    const args = node.args.map((argument) => argumentValue(argument, values));
    const kwargs = Object.entries(node.kwargs).map(([key, argument]) => [key, argumentValue(argument, values)] as const);
    return runOperation(operation, args, new Map(kwargs));
  } catch (error) {
    if (error instanceof RefusedOperation) throw refusedNode(lossName, node, `${error.message} (datum ${index})`);
    throw error;
  }
}

/** Protobuf cannot tell a single number from a list of one, so the declared rank decides. */
function inputTensor(given: TensorData | undefined, rank: CustomLossInputRank): GraphTensor | undefined {
  const dense = given?.toDense();
  if (dense === undefined) return undefined;
  const isSingle = dense.shape === undefined && dense.length === 1 && rank === 0;
  return GraphTensor.constant(dense.shape ?? (isSingle ? [] : [dense.length]), Float64Array.from(dense.data, Number));
}

function metricNumber(lossName: string, metric: string, value: GraphValue | undefined): number {
  if (typeof value === 'number') return value;
  if (value instanceof GraphTensor && value.shape.length === 0) return value.data[0] as number;
  throw refusedLoss(lossName, '', `gives a metric '${metric}' that is not a single number: it is ${valueText(value)}`);
}

function valueText(value: GraphValue | undefined): string {
  return value instanceof GraphTensor ? `a tensor of shape ${shapeText(value.shape)}` : `a ${typeof value}`;
}
