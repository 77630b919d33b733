import type { JsonValue } from '@tinkex/types';
import type { RouteName } from '../routes/route-types.js';

/** A body in a recording. Secrets are hidden. */
export interface RecordedBody {
  /** The content, decoded: JSON as it is, protobuf in the JSON of the protocol. Absent for other content. */
  readonly json?: JsonValue | undefined;
  /** The exact text, where it is not the compact form of `json`. */
  readonly text?: string | undefined;
  /** The file beside the recording that has the exact bytes, where they are not text. */
  readonly file?: string | undefined;
}

/** One request and its answer, as a recording keeps them. */
export interface RecordedExchange {
  /** The endpoint; null when no endpoint has this path and method. */
  readonly route: RouteName | null;
  readonly request: {
    readonly method: string;
    /** Path and query. */
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: RecordedBody | undefined;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: RecordedBody | undefined;
  };
  /** Where the shapes differ from the schemas of `@tinkex/types`. */
  readonly drift?: readonly string[] | undefined;
}
