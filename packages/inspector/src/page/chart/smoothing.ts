/** An exponential moving average without the bias of its beginning. `amount` from 0 (none) to almost 1. */
export function smooth(values: ArrayLike<number>, amount: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  let sum = 0;
  let weight = 0;
  for (let index = 0; index < values.length; index += 1) {
    sum = sum * amount + (values[index] ?? 0) * (1 - amount);
    weight = weight * amount + (1 - amount);
    smoothed[index] = sum / weight;
  }
  return smoothed;
}
