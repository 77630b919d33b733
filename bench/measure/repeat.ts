/** Makes `calls` calls, never more than `inFlight` at once. */
export async function keepInFlight(call: () => PromiseLike<unknown>, calls: number, inFlight: number): Promise<void> {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, calls) }, lane));
}
