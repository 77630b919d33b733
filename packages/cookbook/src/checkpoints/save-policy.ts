/** When checkpoints are saved besides the last one. 0 or undefined turns a rule off. */
export interface SavePolicy {
  /** Steps between saves. */
  readonly saveEvery?: number | undefined;
  /** Tokens between saves. */
  readonly saveEveryTokens?: number | undefined;
  /** Seconds between saves. */
  readonly saveEverySeconds?: number | undefined;
  /** Steps between rolling saves, of which only the newest is kept. */
  readonly rollingSaveEvery?: number | undefined;
}

/** Where a loop stands: steps, tokens and time so far. */
export interface Progress {
  readonly step: number;
  readonly tokens: number;
  readonly elapsedMs: number;
}

/** Tokens and time at the last periodic save. */
export type SaveMarks = Omit<Progress, 'step'>;

/** `periodic`: weights to continue from and to sample from, kept for days. `rolling`: only to continue from, replaced by the next. */
export type SaveKind = 'periodic' | 'rolling';

/** Which save is due at a point of the loop. Nothing is saved at step 0. */
export function dueSave(policy: SavePolicy, marks: SaveMarks, { step, tokens, elapsedMs }: Progress): SaveKind | undefined {
  const { saveEvery = 0, saveEveryTokens = 0, saveEverySeconds = 0, rollingSaveEvery = 0 } = policy;
  if (step <= 0) return undefined;
  if (saveEvery > 0 && step % saveEvery === 0) return 'periodic';
  if (saveEveryTokens > 0 && tokens - marks.tokens >= saveEveryTokens) return 'periodic';
  if (saveEverySeconds > 0 && elapsedMs - marks.elapsedMs >= saveEverySeconds * 1_000) return 'periodic';
  return rollingSaveEvery > 0 && step % rollingSaveEvery === 0 ? 'rolling' : undefined;
}

/** A checkpoint's name: the step with six digits. */
export function checkpointName(step: number): string {
  return String(step).padStart(6, '0');
}
