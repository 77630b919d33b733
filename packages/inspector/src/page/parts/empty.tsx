import type { ComponentChildren } from 'preact';

/** What a view says when it has nothing to show: why, and what to do about it. */
export function Empty({ title, children, code }: { title: string; children?: ComponentChildren; code?: string }) {
  return (
    <div class="card empty">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
      {code !== undefined && <pre>{code}</pre>}
    </div>
  );
}
