const COMMON_K = [1, 5, 10, 25, 50, 100];

/** The chance that at least one of k samples is right, estimated without bias from c right ones of n. */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let index = n - c + 1; index <= n; index++) allWrong *= 1 - k / index;
  return 1 - allWrong;
}

/** The values of k that are reported for n samples: the common ones, and n. */
export function passAtKValues(n: number): number[] {
  return [...new Set([...COMMON_K.filter((k) => k <= n), n])];
}

/** The mean over examples. Examples with fewer than k samples are left out. A sample is right when its reward is above 0. */
export function meanPassAtK(rewards: readonly (readonly number[])[], k: number): number {
  const counted = rewards.filter((samples) => samples.length >= k);
  const sum = counted.reduce((total, samples) => total + passAtK(samples.length, samples.filter((reward) => reward > 0).length, k), 0);
  return sum / counted.length;
}
