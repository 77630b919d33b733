/** A seed below 2³¹ for a place in a run: the same place gives the same seed, other places most likely others. */
export function sampleSeed(...place: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const number of place) {
    for (let shift = 0; shift < 32; shift += 8) hash = Math.imul(hash ^ ((number >>> shift) & 0xff), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 1;
}
