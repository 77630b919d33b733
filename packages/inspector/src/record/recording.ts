import { costOf } from '@tinkex/telemetry/runs';
import type { ExampleView, Exchange, RouteTotal, Span } from '../api/activity-views.js';
import type { CheckpointView, NowReading } from '../api/run-views.js';
import { MetricTable } from '../metrics/metric-table.js';
import type { EventRecord } from './event-record.js';
import { Ring } from './ring.js';

const MAX_SPANS = 5_000;
const MAX_EXCHANGES = 300;
const MAX_EXAMPLES = 50;
const MAX_CHECKPOINTS = 1_000;

/** What was recorded about one model. */
export interface ModelRecording {
  readonly modelId: string;
  readonly metrics: MetricTable;
  readonly checkpoints: CheckpointView[];
}

/** What all records together say, in bounded memory. The same for a program that runs and for files that one has left. */
export class Recording {
  readonly models = new Map<string, ModelRecording>();
  readonly spans = new Ring<Span>(MAX_SPANS);
  readonly exchanges = new Ring<Exchange>(MAX_EXCHANGES);
  readonly examples = new Ring<ExampleView>(MAX_EXAMPLES);
  begin: (EventRecord & { readonly kind: 'begin' }) | undefined;
  now: NowReading | undefined;
  routes: readonly RouteTotal[] = [];
  droppedSpans = 0;
  isEnded = false;
  updatedAtMs: number | undefined;
  /** How many records there have been. */
  revision = 0;

  /** What the tokens so far cost. Undefined without prices, or without a price of what was used. */
  get costUsd(): number | undefined {
    const { prices } = this.begin ?? {};
    if (prices === undefined || this.now === undefined) return undefined;
    const { trainedTokens, promptTokens, sampledTokens } = this.now.totals;
    try {
      return costOf({ trainTokens: trainedTokens, prefillTokens: promptTokens, sampledTokens }, prices);
    } catch {
      // A part of it has no price: a sum of the others would say too little.
      return undefined;
    }
  }

  apply(record: EventRecord): void {
    this.revision += 1;
    this.updatedAtMs = Math.max(this.updatedAtMs ?? 0, record.atMs);
    switch (record.kind) {
      case 'begin':
        this.begin = record;
        this.isEnded = false;
        return;
      case 'metrics':
        this.#model(record.modelId).metrics.add(record.metrics, record.step);
        return;
      case 'checkpoint':
        this.#addCheckpoint(record);
        return;
      case 'example':
        this.examples.push(record.example);
        return;
      case 'span': {
        const { kind: _kind, atMs: _atMs, ...span } = record;
        this.spans.push(span);
        return;
      }
      case 'exchange': {
        const { kind: _kind, ...exchange } = record;
        this.exchanges.push(exchange);
        return;
      }
      case 'tick':
        this.now = record.reading;
        this.routes = record.routes;
        this.droppedSpans = record.droppedSpans;
        return;
      case 'end':
        this.isEnded = true;
        return;
    }
  }

  #model(modelId: string): ModelRecording {
    let model = this.models.get(modelId);
    if (model === undefined) {
      model = { modelId, metrics: new MetricTable(), checkpoints: [] };
      this.models.set(modelId, model);
    }
    return model;
  }

  #addCheckpoint({ modelId, path, step, atMs }: EventRecord & { readonly kind: 'checkpoint' }): void {
    const { checkpoints } = this.#model(modelId);
    const name = path.split('/').at(-1) ?? path;
    const isSampler = path.includes('/sampler_weights/');
    const kind = isSampler ? { samplerPath: path } : { statePath: path };
    const saved = { name, step, savedAtMs: atMs, isFinal: name === 'final', ...kind };
    const last = checkpoints.at(-1);
    // Saved twice at the same step, once to continue from and once to sample from: one checkpoint with two paths.
    const isOther = last?.name === name && last.step === step && (isSampler ? last.samplerPath : last.statePath) === undefined;
    if (isOther) checkpoints[checkpoints.length - 1] = { ...last, ...saved };
    else checkpoints.push(saved);
    if (checkpoints.length > MAX_CHECKPOINTS) checkpoints.shift();
  }
}
