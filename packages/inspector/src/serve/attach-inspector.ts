import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tinkex/http';
import type { AttachOptions } from '@tinkex/telemetry';
import { costOf } from '@tinkex/telemetry/runs';
import type { Datum } from '@tinkex/types';
import type { RunDescription } from '../record/event-record.js';
import { type ExampleOptions, exampleViews } from '../record/example-views.js';
import { EVENTS_FOLDER, Recorder } from '../record/recorder.js';
import { LiveSource } from '../runs/live-source.js';
import { assembleInspector, type InspectorOptions } from './inspector.js';
import { type ListenOptions, listen, type RunningInspector } from './running-inspector.js';

/** Options of {@link attachInspector}. */
export interface AttachInspectorOptions extends Omit<InspectorOptions, 'allowedHosts'>, ListenOptions, RunDescription, AttachOptions {
  /** Where the recording is kept, for example the run's own folder. Default: a new folder in the system's temporary one. */
  readonly recordTo?: string | undefined;
  /** When a file of the recording is full and the next one begins. Default 4 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** How many files the recording keeps, of each of its two kinds. Default 16. */
  readonly maxFiles?: number | undefined;
}

/** An inspector that records this process. */
export interface AttachedInspector extends RunningInspector {
  /** Where the recording is: `inspectFolder(folder)` shows it again. */
  readonly folder: string;
  /** Shows the data of a training call token by token. Does nothing unless `includeContent` is set. */
  addExamples(data: readonly Datum[], options: ExampleOptions): void;
}

/**
 * Records what the Tinkex clients of this process do, and shows it on a page. Prints the address. Nothing else in your program changes; when it ends, or crashes, the
 * recording stays in {@link AttachedInspector.folder}. Throws a `ConfigurationError` for invalid `prices` and a bad token.
 *
 * @example
 * ```ts
 * import { attachInspector } from '@tinkex/inspector';
 *
 * await using inspector = await attachInspector({ name: 'my run', totalSteps: 100 });
 * // Train as always.
 * ```
 */
export async function attachInspector(options: AttachInspectorOptions = {}): Promise<AttachedInspector> {
  const { clock = systemClock, includeContent = false, name, model, rank, totalSteps, budgetUsd, prices } = options;
  const { onError, subscribe, clientId, baseUrl, filter, maxFileBytes, maxFiles } = options;
  // Refuses what is not a price, now and not when the page asks.
  if (prices !== undefined) costOf({ trainTokens: 1, prefillTokens: 1, sampledTokens: 1 }, { prefill: 0, sample: 0, ...prices });
  const folder = options.recordTo ?? (await mkdtemp(join(tmpdir(), 'tinkex-inspector-')));
  const recorder = new Recorder({
    folder: join(folder, EVENTS_FOLDER),
    clock,
    about: { name, model, rank, totalSteps, budgetUsd, prices },
    ...{ onError, subscribe, clientId, baseUrl, filter, maxFileBytes, maxFiles },
  });
  const inspector = assembleInspector({ ...options, clock, sources: [new LiveSource(recorder.recording, folder, options.protocol)] });
  const running = await listen(inspector, { keepsAlive: false, ...options }).catch((error: unknown) => {
    recorder.close();
    throw error;
  });
  async function close(): Promise<void> {
    recorder.close();
    await running.close();
  }
  return {
    ...running,
    folder,
    addExamples(data, how) {
      if (!includeContent) return;
      for (const example of exampleViews(data, how)) recorder.addExample(example);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
