import { useState } from 'preact/hooks';
import type { CheckpointView as Checkpoint } from '../../api/run-views.js';
import { goTo } from '../app/route.js';
import { currentRun, features, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { formatAgo, formatDuration } from '../format/format.js';
import { CopyButton } from '../parts/copy-button.js';
import { Empty } from '../parts/empty.js';
import { nowMs } from '../parts/now-clock.js';
import { ViewHead } from '../parts/view-head.js';
import { chosenModels } from '../playground/conversation.js';

/** The saved weights of a run, and what can be done with them. */
export function CheckpointsView() {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run === undefined ? undefined : String(run.revision), () => source.detail(run?.id ?? ''));
  const checkpoints = [...(value?.checkpoints ?? [])].reverse();
  return (
    <div class="view">
      <ViewHead title="Checkpoints" />
      {value !== undefined && checkpoints.length === 0 ? (
        <Empty title="No checkpoints yet" code="const { path } = await training.saveState('step-100');">
          A checkpoint with optimizer state continues the training; one for sampling answers questions.
        </Empty>
      ) : (
        <ul class="checkpoints">
          {checkpoints.map((checkpoint, index) => (
            <CheckpointCard key={`${checkpoint.name} ${index}`} checkpoint={checkpoint} />
          ))}
        </ul>
      )}
    </div>
  );
}

function CheckpointCard({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const { name, step, statePath, samplerPath, savedAtMs, ttlSeconds, isFinal } = checkpoint;
  return (
    <li class="card checkpoint">
      <div class="card-head">
        <h2>{name}</h2>
        {isFinal && <span class="badge finished">final</span>}
        {step !== undefined && <span class="muted">step {step.toLocaleString('en-US')}</span>}
        {savedAtMs !== undefined && <span class="muted">saved {formatAgo(savedAtMs, nowMs.value)}</span>}
        <span class="spacer" />
        {ttlSeconds !== undefined && <span class="badge">kept for {formatDuration(ttlSeconds * 1_000)}</span>}
      </div>
      <div class="card-body paths">
        {samplerPath !== undefined && <SamplerPath path={samplerPath} />}
        {statePath !== undefined && <StatePath path={statePath} />}
      </div>
    </li>
  );
}

function SamplerPath({ path }: { readonly path: string }) {
  const [note, setNote] = useState('');
  async function download(): Promise<void> {
    setNote('Downloading…');
    try {
      setNote(`Saved to ${await source.download(path)}`);
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error));
    }
  }
  const chat = (): void => {
    chosenModels.value = [path];
    goTo({ view: 'playground' });
  };
  return (
    <div class="path">
      <span class="muted">For sampling</span>
      <code>{path}</code>
      <span class="actions">
        {features.value.canChat && (
          <button type="button" class="button primary" onClick={chat}>
            Chat
          </button>
        )}
        {features.value.canDownload && (
          <button type="button" class="button" onClick={() => void download()}>
            Download
          </button>
        )}
        <CopyButton text={path} label="Copy path" />
      </span>
      {note !== '' && (
        <p class="small muted" role="status">
          {note}
        </p>
      )}
    </div>
  );
}

function StatePath({ path }: { readonly path: string }) {
  const program = `const training = await service.createTrainingClientFromStateWithOptimizer('${path}');`;
  return (
    <div class="path">
      <span class="muted">To continue</span>
      <code>{path}</code>
      <span class="actions">
        <CopyButton text={program} label="Copy how to resume" />
        <CopyButton text={path} label="Copy path" />
      </span>
    </div>
  );
}
