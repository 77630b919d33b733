/** `trainingRunId` → `training_run_id`: how a field of ours is called on the wire. */
export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `training_run_id` → `trainingRunId`: how a field of the wire is called here. */
export function domainName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
