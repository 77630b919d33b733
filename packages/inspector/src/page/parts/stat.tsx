import type { ComponentChildren } from 'preact';

interface StatProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: string | undefined;
  /** Whether somebody should do something about it. */
  readonly isBad?: boolean | undefined;
}

/** A number and its name. */
export function Stat({ name, value, note, isBad = false }: StatProps) {
  return (
    <div class="card stat">
      <dt>{name}</dt>
      <dd>
        <span class={isBad ? 'bad-text' : undefined}>{value}</span>
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
