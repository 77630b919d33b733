/** A text as a name on the hub: letters, digits, `-`, `_` and `.`, without a run of `-` and without marks at its ends. */
export function safeRepositoryName(text: string): string {
  return text
    .replace(/[^\p{L}\p{N}_.-]/gu, '-')
    .replace(/-+/g, '-')
    .replace(/^[-_. ]+|[-_. ]+$/g, '');
}

/** The name of the repository for a checkpoint, without the user: the model and the run. */
export function repositoryNameFor(baseModel: string | undefined, trainingRunId: string): string {
  const model = baseModel?.split('/').at(-1) || 'adapter';
  return safeRepositoryName(`tinker-${model}-${trainingRunId}`);
}
