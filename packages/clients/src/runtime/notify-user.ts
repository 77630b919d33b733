import { emitWarning } from '@tinkex/http/runtime';
/**
 * Calls a user's callback from inside the SDK. An error that it throws must neither fail the operation that the callback only watches
 * nor end a loop such as the heartbeat. Node prints it as a process warning instead.
 */
export function notifyUser<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    emitWarning(error instanceof Error ? error : String(error));
  }
}
