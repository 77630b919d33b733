/** Points as a chart takes them: steps, then values, of equal length. */
export interface Points {
  readonly steps: Float64Array;
  readonly values: Float64Array;
}

/**
 * At most `maxPoints` points that look the same on a screen: the smallest and the largest value of each stretch, in order, so that no spike is lost. All points if
 * they are few enough. `from` and `to` bound the steps.
 */
export function reducePoints({ steps, values }: Points, maxPoints: number, from = -Infinity, to = Infinity): Points {
  const first = lowerBound(steps, from);
  const end = upperBound(steps, to);
  const count = end - first;
  if (count <= maxPoints) return { steps: steps.slice(first, end), values: values.slice(first, end) };
  const stretches = Math.max(1, Math.floor(maxPoints / 2));
  const kept: number[] = [];
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const begin = first + Math.floor((stretch * count) / stretches);
    const stop = first + Math.floor(((stretch + 1) * count) / stretches);
    kept.push(...extremes(values, begin, stop));
  }
  return { steps: Float64Array.from(kept, (index) => steps[index] ?? 0), values: Float64Array.from(kept, (index) => values[index] ?? 0) };
}

/** Where the smallest and the largest value are, in order; one index if they are the same. */
function extremes(values: Float64Array, begin: number, stop: number): number[] {
  let low = begin;
  let high = begin;
  for (let index = begin + 1; index < stop; index += 1) {
    const value = values[index] ?? 0;
    if (value < (values[low] ?? 0)) low = index;
    if (value > (values[high] ?? 0)) high = index;
  }
  if (low === high) return [low];
  return low < high ? [low, high] : [high, low];
}

function lowerBound(sorted: Float64Array, wanted: number): number {
  return firstIndex(sorted, (value) => value >= wanted);
}

function upperBound(sorted: Float64Array, wanted: number): number {
  return firstIndex(sorted, (value) => value > wanted);
}

/** The first index that passes, where all after it pass too. */
function firstIndex(sorted: Float64Array, passes: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(sorted[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
