import { expected, joinPath, keyText } from '../errors/issue-text.js';
import { ValidationError } from '../errors/validation-error.js';

/** One thing that is wrong with a value. */
export interface FoundIssue {
  /** From the value that was checked to the place, outermost key first. */
  readonly path: PropertyKey[];
  readonly message: string;
}

/**
 * Checks a value of the wire form: adds what is wrong to the issues, and returns the value as the codec reads on with it. What it returns
 * after adding an issue is never used.
 */
export interface Schema {
  (value: unknown, issues: FoundIssue[]): unknown;
  /** The fields of an object, by their names on the wire. */
  readonly fields?: Readonly<Record<string, SchemaField>>;
}

/** One field of an object. */
export interface SchemaField {
  readonly schema: Schema;
  readonly isOptional: boolean;
}

/** Words the issue with a value. */
export type IssueText = (issue: { readonly input?: unknown }) => string;

/** Any value. */
export const anyValue: Schema = (value) => value;

/** A value that passes a test. */
export function checked(isRight: (value: unknown) => boolean, message: IssueText): Schema {
  return (value, issues) => {
    if (!isRight(value)) issues.push({ path: [], message: message({ input: value }) });
    return value;
  };
}

/** Exactly this value. */
export function literal(wanted: unknown, message: IssueText): Schema {
  return checked((value) => value === wanted, message);
}

/** Text, with further conditions. */
export function textThat(isRight: (value: string) => boolean, message: IssueText): Schema {
  return checked((value) => typeof value === 'string' && isRight(value), message);
}

/** The schema after a conversion of the value. */
export function prepared(prepare: (value: unknown) => unknown, schema: Schema): Schema {
  return (value, issues) => schema(prepare(value), issues);
}

/** A value that may be missing. */
export function optionalValue(schema: Schema): Schema {
  return (value, issues) => (value === undefined ? undefined : schema(value, issues));
}

/** A value that may be missing or null. */
export function nullishValue(schema: Schema): Schema {
  return (value, issues) => (value === undefined || value === null ? value : schema(value, issues));
}

/** A value that may be null. */
export function nullableValue(schema: Schema): Schema {
  return (value, issues) => (value === null ? null : schema(value, issues));
}

/** Checks a value below a key. */
export function checkAt(key: PropertyKey, schema: Schema, value: unknown, issues: FoundIssue[]): unknown {
  const before = issues.length;
  const result = schema(value, issues);
  for (let index = before; index < issues.length; index += 1) issues[index]?.path.unshift(key);
  return result;
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

/** Whether a value passes. */
export function passes(schema: Schema, value: unknown): boolean {
  const issues: FoundIssue[] = [];
  schema(value, issues);
  return issues.length === 0;
}

/** A list whose length passes a test, and each of its values. */
export function listOf(schema: Schema, message: IssueText, isRightLength: (length: number) => boolean = () => true): Schema {
  return (value, issues) => {
    if (!Array.isArray(value) || !isRightLength(value.length)) {
      issues.push({ path: [], message: message({ input: value }) });
      return value;
    }
    return value.map((entry: unknown, index) => checkAt(index, schema, entry, issues));
  };
}

const AN_OBJECT = expected('an object');

/** An object with known fields. Closed: others are refused. Open: they are kept as they are. */
export function objectOf(fields: Readonly<Record<string, SchemaField>>, isClosed: boolean): Schema {
  const entries = Object.entries(fields);
  const check: Schema = (value, issues) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      issues.push({ path: [], message: AN_OBJECT({ input: value }) });
      return value;
    }
    const object = value as Readonly<Record<string, unknown>>;
    const result: Record<string, unknown> = {};
    for (const [name, { schema }] of entries) {
      const read = checkAt(name, schema, object[name], issues);
      if (read !== undefined) result[name] = read;
    }
    for (const name of Object.keys(object)) {
      // An assignment to `__proto__` would change the prototype.
      if (Object.hasOwn(fields, name) || name === '__proto__') continue;
      if (isClosed) issues.push({ path: [name], message: 'is not a known field; remove it' });
      else result[name] = object[name];
    }
    return result;
  };
  return Object.assign(check, { fields });
}
