import { explainFailure } from '../output/explain-failure.js';

/** What one check has found. */
export interface Verdict {
  readonly check: string;
  readonly isOk: boolean;
  readonly detail: string;
  /** What to do if it is not in order. */
  readonly cure?: string | undefined;
}

/** The verdict of a check that failed with an error. */
export async function failedVerdict(check: string, error: unknown, cure: string): Promise<Verdict> {
  const explained = await explainFailure(error);
  return { check, isOk: false, detail: [explained.message, ...explained.details].join(': '), cure: explained.cure ?? cure };
}
