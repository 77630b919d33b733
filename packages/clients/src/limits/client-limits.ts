/** Upper limits you can set. Unset ones follow the server's configuration, or the default given here. Calls over a limit wait; none is refused. */
export interface ClientLimits {
  /** Polls in flight at the same time; more pending futures take turns. Default 2,000. */
  readonly maxConcurrentPolls?: number | undefined;
  /** Estimated bytes of forward/backward chunks being submitted at the same time. Default: the server's value, else 50,000,000. */
  readonly maxDispatchBytes?: number | undefined;
  /**
   * Bytes of memory kept for the bodies of forward/backward requests and reused from one to the next. Default 33,554,432; 0 keeps none. A
   * client with its own `transport`, `dispatcher` or `middleware` never reuses memory: those may keep what they were given.
   */
  readonly maxReusedBodyBytes?: number | undefined;
  /** Bytes of large results being fetched at the same time. Default: the server's value, else 52,428,800. */
  readonly maxResponseBytesInFlight?: number | undefined;
  /**
   * Operations of one training client that are submitted and not finished. Default: no limit, so that the server always has the next one. Set 1
   * for a server that does not run them in the order of the calls.
   */
  readonly maxUnfinishedOperations?: number | undefined;
  /** Sampling submissions in flight at the same time. Default 400; with one poll per sampling session 16, and up to 400 for a distant server. */
  readonly maxConcurrentSampleSubmissions?: number | undefined;
  /** The same limit during a backoff and for 10 s after it. Default 10. */
  readonly maxThrottledSampleSubmissions?: number | undefined;
  /** Estimated bytes of prompts being submitted at the same time. Default: the server's value, else 10,485,760. */
  readonly maxPromptBytesInFlight?: number | undefined;
  /**
   * Sample calls (submission and wait) at the same time in one sampling client. Default: the server's value, else 2,000; no limit if one poll
   * waits for all samples (flag `sample_use_retrieve_futures`).
   */
  readonly maxConcurrentSamples?: number | undefined;
  /**
   * Sample calls that one sampling client starts in one turn of the event loop. It starts more each time the event loop is idle. Default 32.
   * This does not limit how many are in progress, only how far they run ahead of a busy process.
   */
  readonly maxSampleStartsPerTurn?: number | undefined;
}
