import { joinPath, keyText } from '../errors/issue-text.js';
import { ValidationError } from '../errors/validation-error.js';

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
