import type { z } from 'zod';
import { joinPath, keyText } from '../errors/issue-text.js';
import { ValidationError } from '../errors/validation-error.js';

/** Receives the issues that a schema's code finds. */
export interface Context {
  addIssue(issue: { code: 'custom'; message: string; path?: PropertyKey[] | undefined }): void;
}

/** One thing a schema found wrong. */
export interface FoundIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What a schema found wrong, with one issue per unknown field. */
export function foundIssues(error: z.ZodError): FoundIssue[] {
  return error.issues.flatMap((issue): FoundIssue[] => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not a known field; remove it' }));
  });
}

/** Passes on what an inner schema found wrong, below a path of the outer one. */
export function reportBelow(path: readonly PropertyKey[], error: z.ZodError, context: Context): void {
  for (const issue of foundIssues(error)) context.addIssue({ code: 'custom', path: [...path, ...issue.path], message: issue.message });
}

/** Runs a conversion and moves the issues it finds below a key. */
export function placeIssues<T>(key: PropertyKey, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    throw relocate(error, key);
  }
}

/** The same error with its issues moved below a key. Other errors stay as they are. */
function relocate(error: unknown, key: PropertyKey): unknown {
  if (!ValidationError.isInstance(error)) return error;
  const issues = error.issues.map(({ path, message }) => ({ path: joinPath(keyText(key), path), message }));
  return new ValidationError({ direction: error.direction, issues });
}
