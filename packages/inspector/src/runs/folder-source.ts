import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { RUN_FILES } from '@tinkex/telemetry/runs';
import { EVENTS_FOLDER } from '../record/recorder.js';
import { FolderRun } from './folder-run.js';
import type { InspectedRun, RunSource } from './inspected-run.js';
import { RecordedRun } from './recorded-run.js';

/** A folder that contains one of these is a run. */
const MARKS: readonly string[] = [RUN_FILES.metrics, RUN_FILES.checkpoints, RUN_FILES.config, EVENTS_FOLDER];
const MAX_DEPTH = 3;
const MAX_RUNS = 500;
const SKIPPED = /^(node_modules|\.git|iteration_\d+)$/;

/** The runs in a folder: itself, or all run folders up to three levels below it. New ones are found while it is watched. */
export class FolderSource implements RunSource {
  readonly #root: string;
  readonly #runs = new Map<string, FolderRun>();
  /** Runs of folders that hold nothing but a recording: one for each model. */
  readonly #recorded = new Map<string, RecordedRun>();
  #refreshing: Promise<void> | undefined;

  constructor(path: string) {
    this.#root = resolve(path);
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#readAll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  runs(): readonly InspectedRun[] {
    return [...this.#runs.values()].flatMap((run) => {
      const { models } = run.events.recording;
      return run.hasOwnFiles || run.events.recording.revision === 0 ? [run] : this.#recordedRuns(run, Math.max(1, models.size));
    });
  }

  #recordedRuns(run: FolderRun, count: number): readonly InspectedRun[] {
    const { recording } = run.events;
    const models = [...recording.models.values()];
    return Array.from({ length: count }, (_, index) => {
      const id = index === 0 ? run.id : `${run.id}-${index}`;
      const model = models[index];
      const known = this.#recorded.get(id);
      if (known !== undefined && known.metrics === model?.metrics) return known;
      const name = `${recording.begin?.name ?? basename(run.path)}${index === 0 ? '' : ` (model ${index + 1})`}`;
      const created = new RecordedRun({ id, name, source: 'folder', recording, model, path: run.path });
      this.#recorded.set(id, created);
      return created;
    });
  }

  async #readAll(): Promise<void> {
    const paths = await runFolders(this.#root, 0);
    for (const path of paths.slice(0, MAX_RUNS)) {
      if (!this.#runs.has(path)) this.#runs.set(path, new FolderRun(idOf(path), path, relative(this.#root, path) || basename(path)));
    }
    const present = new Set(paths);
    for (const [path, run] of this.#runs) {
      if (!present.has(path)) this.#runs.delete(path);
      // A run that cannot be read now (a file that is being replaced) is read the next time.
      else await run.refresh().catch(() => undefined);
    }
  }
}

async function runFolders(path: string, depth: number): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  if (entries.some(({ name }) => MARKS.includes(name))) return [path];
  if (depth >= MAX_DEPTH) return [];
  const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.test(entry.name)).sort((a, b) => a.name.localeCompare(b.name));
  const found = await Promise.all(folders.map(({ name }) => runFolders(join(path, name), depth + 1)));
  return found.flat();
}

function idOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 12);
}
