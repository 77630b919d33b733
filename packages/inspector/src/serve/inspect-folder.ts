import { assembleInspector, type InspectorOptions } from './inspector.js';
import { type ListenOptions, listen, type RunningInspector } from './running-inspector.js';

/** Options of {@link inspectFolder}. */
export interface InspectFolderOptions extends Omit<InspectorOptions, 'folders' | 'allowedHosts'>, ListenOptions {}

/**
 * Shows a run folder, or all run folders below a folder: finished, still growing, or left by a crash; written by this project or by the Python cookbook. A folder that
 * does not exist yet is shown as empty until it does.
 *
 * @example
 * ```ts
 * import { inspectFolder } from '@tinkex/inspector';
 *
 * await using inspector = await inspectFolder('runs', { keepsAlive: false });
 * console.log(inspector.url);
 * ```
 */
export async function inspectFolder(path: string, options: InspectFolderOptions = {}): Promise<RunningInspector> {
  return listen(assembleInspector({ ...options, folders: [path] }), { keepsAlive: true, ...options });
}
