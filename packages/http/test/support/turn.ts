/** Lets everything that is ready run: microtasks, then I/O, some times over. */
export async function turn(times = 4): Promise<void> {
  for (let count = 0; count < times; count += 1) await new Promise((resolve) => setImmediate(resolve));
}
