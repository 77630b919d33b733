/** The JSON object of a request's body. Undefined if it is not one, or larger than `maxBytes`. */
export async function readJsonObject(request: Request, maxBytes: number): Promise<Readonly<Record<string, unknown>> | undefined> {
  // A form of another site cannot send this type without asking first.
  if (!request.headers.get('content-type')?.startsWith('application/json')) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not JSON: the answer says what was expected.
    return undefined;
  }
}
