/** A query value. Lists are joined with commas; `null`, `undefined` and the empty text are left out. */
export type QueryValue = string | number | bigint | boolean | null | undefined | readonly QueryValue[];

/** Query parameters, in the order in which they are sent. */
export type Query = Readonly<Record<string, QueryValue>>;

/**
 * Form-encodes a query, without the question mark: a blank becomes `+`, `:` becomes `%3A`, booleans are `true` and `false`.
 * Empty when nothing is left to send.
 */
export function encodeQuery(query: Query): string {
  const parameters = new URLSearchParams();
  for (const name of Object.keys(query)) {
    const text = queryText(query[name]);
    if (text !== '') parameters.append(name, text);
  }
  return parameters.toString();
}

function queryText(value: QueryValue): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    return value
      .filter((item) => item !== null && item !== undefined)
      .map(queryText)
      .join(',');
  }
  return String(value);
}
