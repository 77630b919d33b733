/** One broken rule: which file broke it, and by importing what. */
export interface LayerProblem {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}
