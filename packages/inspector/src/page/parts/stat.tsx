import type { ComponentChildren } from 'preact';

/** A number and its name. */
export function Stat({ name, value, note }: { name: string; value: ComponentChildren; note?: string | undefined }) {
  return (
    <div class="card stat">
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
