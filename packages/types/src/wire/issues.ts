import type { z } from 'zod';

/** What a schema's own code reports to. */
export interface Context {
  addIssue(issue: { code: 'custom'; message: string; path?: PropertyKey[] | undefined }): void;
}

/** One thing a schema found wrong. */
export interface FoundIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What a schema found wrong, with an issue of its own for each unknown field. */
export function foundIssues(error: z.ZodError): FoundIssue[] {
  return error.issues.flatMap((issue): FoundIssue[] => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not a known field; remove it' }));
  });
}

/** Hands on what an inner schema found wrong, as being below a path of the outer one. */
export function reportBelow(path: readonly PropertyKey[], error: z.ZodError, context: Context): void {
  for (const issue of foundIssues(error)) context.addIssue({ code: 'custom', path: [...path, ...issue.path], message: issue.message });
}
