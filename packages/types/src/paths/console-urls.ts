const CONSOLE = 'https://tinker.thinkingmachines.ai';

/** Links into the web console of the hosted service. They are built locally, without a request. */
export const consoleUrls = {
  /** All sessions. */
  sessions: (): string => `${CONSOLE}/sessions`,
  /** One session. */
  session: (sessionId: string): string => `${CONSOLE}/sessions/${sessionId}`,
  /** One training run. Its ID is the `modelId` of a training client. */
  trainingRun: (trainingRunId: string): string => `${CONSOLE}/training_runs/${trainingRunId}`,
  /** One checkpoint. `checkpointId` has its prefix, as in lists: `weights/{name}`. */
  checkpoint: (trainingRunId: string, checkpointId: string): string =>
    `${CONSOLE}/checkpoints/${escapeAll(trainingRunId)}/${escapeAll(checkpointId)}`,
  /** The playground, with a checkpoint loaded. */
  playground: (tinkerPath: string): string => `${CONSOLE}/playground?mode=checkpoint&checkpoint=${escapeAll(tinkerPath)}`,
  /** The form for a new API key, with its name filled in. */
  newApiKey: (keyName: string): string => `${CONSOLE}/keys?new_key=true&key_name=${escapeAll(keyName).replaceAll('%20', '+')}`,
  /** One API key. */
  apiKey: (keyId: string): string => `${CONSOLE}/keys/${escapeAll(keyId)}`,
} as const;

/** Percent-encodes every reserved character. `encodeURIComponent` leaves five of them alone. */
function escapeAll(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
