/** Prompt log-probabilities as a list: null where none was computed (NaN in the array). */
export function promptLogprobsToList(logprobs: Float32Array): (number | null)[] {
  return Array.from(logprobs, (logprob) => (Number.isNaN(logprob) ? null : logprob));
}
