import type { Recording } from '../record/recording.js';
import type { InspectedRun, RunSource } from './inspected-run.js';
import { type ProtocolSource, RecordedRun } from './recorded-run.js';

/** The runs of this process: one for each model it trains, or one for the program while it trains none. */
export class LiveSource implements RunSource {
  readonly #recording: Recording;
  readonly #folder: string;
  readonly #protocol: ProtocolSource | undefined;
  readonly #runs = new Map<string, RecordedRun>();

  constructor(recording: Recording, folder: string, protocol: ProtocolSource | undefined) {
    this.#recording = recording;
    this.#folder = folder;
    this.#protocol = protocol;
  }

  async refresh(): Promise<void> {
    // Events update the recording as they come.
  }

  runs(): readonly InspectedRun[] {
    const models = [...this.#recording.models.values()];
    if (models.length === 0) return [this.#run('live', undefined, '')];
    return models.map((model, index) =>
      this.#run(index === 0 ? 'live' : `live-${index}`, model, index === 0 ? '' : ` (model ${index + 1})`),
    );
  }

  #run(id: string, model: ReturnType<Recording['models']['get']>, suffix: string): RecordedRun {
    const known = this.#runs.get(id);
    if (known !== undefined && (model === undefined || known.metrics === model.metrics)) return known;
    const recording = this.#recording;
    const name = `${recording.begin?.name ?? 'program'}${suffix}`;
    const created = new RecordedRun({ id, name, source: 'live', recording, model, protocol: this.#protocol, path: this.#folder });
    this.#runs.set(id, created);
    return created;
  }
}
