/**
 * Calls a user's callback from inside the SDK's own work. What it throws must not become the failure of an operation it only
 * watches, nor end a loop such as the heartbeat; it is not lost either: Node prints it as a process warning.
 */
export function tellUser<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
