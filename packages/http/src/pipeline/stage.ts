/** One layer of a pipeline: it may change what goes in, what comes out, call `next` again, or not at all. */
export type Stage<In, Out> = (input: In, next: (input: In) => Promise<Out>) => Promise<Out>;

/** Folds layers into one function, the first layer outermost. Done once at construction: a call builds no closures. */
export function compose<In, Out>(stages: readonly Stage<In, Out>[], last: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  return stages.reduceRight<(input: In) => Promise<Out>>((next, stage) => (input) => stage(input, next), last);
}
