import type { ExampleView, ProtocolReading, RolloutsView, Timeline } from '../../api/activity-views.js';
import type { ChatRequest, ChatSample } from '../../api/chat.js';
import type { RunDetail, StreamUpdate } from '../../api/run-views.js';

/** How the page and its data are connected. */
export type Connection = 'connecting' | 'live' | 'lost' | 'report';

/** The points of a metric. */
export interface Points {
  readonly steps: Float64Array;
  readonly values: Float64Array;
}

/** Which points of a metric. */
export interface PointsQuery {
  readonly id: string;
  readonly metric: string;
  readonly points: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Where the page's data come from: a server that is watching, or the file that the page is in. */
export interface PageSource {
  start(onUpdate: (update: StreamUpdate) => void, onConnection: (connection: Connection) => void): void;
  detail(id: string): Promise<RunDetail>;
  points(query: PointsQuery): Promise<Points>;
  timeline(id: string, after: number): Promise<Timeline>;
  protocol(id: string): Promise<ProtocolReading | null>;
  examples(id: string): Promise<readonly ExampleView[]>;
  rollouts(id: string, iteration: number, split: string): Promise<RolloutsView>;
  chat(request: ChatRequest, signal: AbortSignal): Promise<readonly ChatSample[]>;
  download(path: string): Promise<string>;
  /** The address of a file to save; undefined in a report. */
  file(name: string): string | undefined;
}
