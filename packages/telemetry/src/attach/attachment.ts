/** A consumer that is attached to the SDK's events. */
export interface Attachment {
  /** Stops listening, at once and for good. Idempotent; never throws. */
  detach(): void;
  /** Errors of the consumer (a throwing sink, a rejected write) that were kept away from the application. */
  readonly errors: number;
  /** Same as {@link Attachment.detach}. */
  [Symbol.dispose](): void;
}
