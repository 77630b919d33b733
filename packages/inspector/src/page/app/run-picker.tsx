import { goTo } from './route.js';
import { currentRun, runs } from './store.js';

/** Chooses the run that the views are about. */
export function RunPicker() {
  const current = currentRun.value;
  if (current === undefined) return null;
  return (
    <div class="run-picker">
      <span class={`dot ${current.state}`} />
      <select aria-label="Run" value={current.id} onChange={({ currentTarget }) => goTo({ run: currentTarget.value })}>
        {runs.value.map(({ id, name, model }) => (
          <option key={id} value={id}>
            {model === undefined ? name : `${name} · ${model}`}
          </option>
        ))}
      </select>
    </div>
  );
}
