import type { ComponentChildren } from 'preact';
import { RunPicker } from '../app/run-picker.js';

/** The title of a view and its controls. On a narrow screen the run is chosen here. */
export function ViewHead({ title, children, hasPicker = true }: { title: string; children?: ComponentChildren; hasPicker?: boolean }) {
  return (
    <div class="view-head">
      <h1>{title}</h1>
      {hasPicker && (
        <span class="narrow-picker">
          <RunPicker />
        </span>
      )}
      <span class="spacer" />
      {children}
    </div>
  );
}
