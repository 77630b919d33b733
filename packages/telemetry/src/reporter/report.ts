/** How bad an event is, as the service names it. */
export type ReportSeverity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** Something the client tells the service, before it gets its id, index and time. */
export type Report =
  | { readonly kind: 'SESSION_START' }
  | { readonly kind: 'SESSION_END'; readonly duration: string }
  | {
      readonly kind: 'UNHANDLED_EXCEPTION';
      readonly severity: ReportSeverity;
      readonly errorType: string;
      readonly errorMessage: string;
      readonly traceback?: string;
    }
  | GenericReport;

/** Anything that has a name and data. Keys of the data go out as written. */
export interface GenericReport {
  readonly kind: 'GENERIC_EVENT';
  readonly name: string;
  readonly severity: ReportSeverity;
  readonly data: Readonly<Record<string, unknown>>;
}
