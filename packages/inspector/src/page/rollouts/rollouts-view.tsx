import { useState } from 'preact/hooks';
import type { GroupText, RolloutView } from '../../api/activity-views.js';
import { currentRun, features, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { formatNumber } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { ViewHead } from '../parts/view-head.js';

/** What a policy did: groups of episodes, what each was worth, and what was said. */
export function RolloutsView() {
  const run = currentRun.value;
  const { value: detail } = useFetched(run?.id ?? '', run?.has.rollouts ? String(run.revision) : undefined, () =>
    source.detail(run?.id ?? ''),
  );
  const iterations = detail?.iterations ?? [];
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const keys = iterations.map(({ iteration, split }) => `${iteration} ${split}`);
  const key = chosen !== undefined && keys.includes(chosen) ? chosen : keys.at(-1);
  const [iteration = '0', split = 'train'] = key?.split(' ') ?? [];
  const { value, error } = useFetched(`${run?.id} ${key}`, key, () => source.rollouts(run?.id ?? '', Number(iteration), split));
  return (
    <div class="view">
      <ViewHead title="Rollouts">
        {keys.length > 0 && (
          <label class="control">
            Iteration
            <select value={key} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {iterations.map((one, index) => (
                <option key={keys[index]} value={keys[index]}>
                  {one.iteration} · {one.split}
                </option>
              ))}
            </select>
          </label>
        )}
      </ViewHead>
      {keys.length === 0 && (
        <Empty title="No rollouts">
          A run of reinforcement learning writes its episodes to iteration_NNNNNN folders; this run has none.
        </Empty>
      )}
      {error !== undefined && <div class="banner bad">{error}</div>}
      {value !== undefined && <Groups rollouts={value.rollouts} />}
      {value !== undefined && <Texts texts={value.texts} />}
    </div>
  );
}

function Groups({ rollouts }: { readonly rollouts: readonly RolloutView[] }) {
  const groups = [...new Set(rollouts.map(({ group }) => group))];
  return (
    <div class="groups">
      {groups.map((group) => (
        <GroupCard key={group} group={group} rollouts={rollouts.filter((one) => one.group === group)} />
      ))}
    </div>
  );
}

function GroupCard({ group, rollouts }: { readonly group: number; readonly rollouts: readonly RolloutView[] }) {
  const rewards = rollouts.map(({ reward }) => reward);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length);
  const isConstant = rewards.every((reward) => reward === rewards[0]);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Group {group + 1}</h2>
        {[...new Set(rollouts.flatMap(({ tags }) => tags))].map((tag) => (
          <span key={tag} class="badge">
            {tag}
          </span>
        ))}
        <span class="spacer" />
        {isConstant && <span class="badge warn">all equal: no signal</span>}
        <span class="muted small">mean reward {formatNumber(mean)}</span>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Episode</th>
              <th class="number">Reward</th>
              <th>Advantage</th>
              <th class="number">Turns</th>
              <th class="number">Tokens</th>
              <th>Metrics</th>
            </tr>
          </thead>
          <tbody>
            {rollouts.map((rollout) => (
              <Episode key={rollout.trajectory} rollout={rollout} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Episode({ rollout: { trajectory, reward, advantage, turns, metrics } }: { readonly rollout: RolloutView }) {
  const tokens = turns.reduce((sum, { answerTokens }) => sum + answerTokens, 0);
  const all = { ...Object.assign({}, ...turns.map((turn) => turn.metrics)), ...metrics } as Record<string, number>;
  const logs = turns.flatMap((turn) => Object.entries(turn.logs));
  return (
    <tr>
      <td>{trajectory + 1}</td>
      <td class="number strong">{formatNumber(reward)}</td>
      <td>
        <span class="advantage" role="img" aria-label={`Advantage ${formatNumber(advantage)}`}>
          <i class={advantage < 0 ? 'minus' : 'plus'} style={{ width: `${Math.min(50, Math.abs(advantage) * 50)}%` }} />
        </span>
        <span class="muted small">
          {advantage > 0 ? '+' : ''}
          {formatNumber(advantage)}
        </span>
      </td>
      <td class="number">{turns.length}</td>
      <td class="number">{tokens}</td>
      <td class="muted small">
        {Object.entries(all)
          .map(([name, value]) => `${name} ${formatNumber(value)}`)
          .join(', ')}
        {logs.map(([name, text]) => (
          <div key={name + text}>
            {name}: {text}
          </div>
        ))}
      </td>
    </tr>
  );
}

function Texts({ texts }: { readonly texts: readonly GroupText[] }) {
  if (!features.value.hasContent) {
    return <div class="banner">What was said in the episodes is not shown: the inspector was started without includeContent.</div>;
  }
  if (texts.length === 0) return null;
  return (
    <section class="card card-body said" aria-label="What was said">
      {texts.map((text, index) => (
        <Said key={index} text={text} />
      ))}
    </section>
  );
}

function Said({ text }: { readonly text: GroupText }) {
  if (text.kind === 'heading') return text.level <= 2 ? <h2>{text.text}</h2> : <h3>{text.text}</h3>;
  if (text.kind === 'text') return <p class="muted">{text.text}</p>;
  return (
    <div class={`message ${text.role}`}>
      <span class="role">{text.role}</span>
      {text.text}
      {text.toolCalls.map((call) => (
        <pre key={call}>{call}</pre>
      ))}
    </div>
  );
}
