/** Resolves at Ctrl-C. Keeps the process alive until then: listeners of servers do not. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  try {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    clearInterval(alive);
  }
}
