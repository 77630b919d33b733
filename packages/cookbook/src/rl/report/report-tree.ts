import type { JsonRecord } from '@tinkex/telemetry/runs';

/** A message of a report: who, and what was said. */
export interface ReportMessage {
  readonly role: string;
  readonly content: string;
}

/** An element of a report, as the reference writes it in `<split>_logtree.json`. Its texts are escaped for HTML, those of `data` are not. */
export interface ReportNode {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly children: readonly (ReportNode | string)[];
  readonly data?: { readonly type: 'conversation'; readonly messages: readonly ReportMessage[] };
}

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPED[character] as string);
}

function node(tag: string, className: string | undefined, children: readonly (ReportNode | string)[]): ReportNode {
  return { tag, attrs: className === undefined ? {} : { class: className }, children };
}

/** A whole report. */
export function report(title: string, startedAt: string, children: readonly ReportNode[]): ReportNode {
  const heading = node('h1', 'lt-title', [escapeMarkup(title)]);
  return node('body', 'lt-root', [heading, node('div', 'lt-subtitle', [`Generated ${startedAt}`]), ...children]);
}

/** A heading, 2 to 6, with what belongs to it. */
export function section(level: number, title: string, children: readonly ReportNode[]): ReportNode {
  const heading = node(`h${level}`, `lt-h${level}`, [escapeMarkup(title)]);
  return node('section', 'lt-section', [heading, node('div', 'lt-section-body', children)]);
}

export function paragraph(text: string): ReportNode {
  return node('p', 'lt-p', [escapeMarkup(text)]);
}

/** A long text that is folded away. */
export function details(summary: string, text: string): ReportNode {
  return node('details', 'lt-details', [
    node('summary', undefined, [escapeMarkup(summary)]),
    node('pre', 'lt-details-body', [escapeMarkup(text)]),
  ]);
}

export function caption(text: string): ReportNode {
  return node('div', 'lt-table-caption', [escapeMarkup(text)]);
}

/** A table with a row of names above. */
export function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): ReportNode {
  const row = (tag: 'th' | 'td', cells: readonly (string | number)[]) =>
    node(
      'tr',
      undefined,
      cells.map((cell) => node(tag, undefined, [escapeMarkup(String(cell))])),
    );
  const body = rows.map((cells) => row('td', cells));
  return node('table', 'lt-table', [node('thead', undefined, [row('th', columns)]), node('tbody', undefined, body)]);
}

/** Names and values. */
export function valueTable(values: Readonly<Record<string, string | number>>): ReportNode {
  return table(['key', 'value'], Object.entries(values));
}

export function conversation(messages: readonly ReportMessage[]): ReportNode {
  return { ...node('div', undefined, []), data: { type: 'conversation', messages } };
}

/** The file that the inspector and the reference's readers read. */
export function reportJson(title: string, startedAt: string, path: string, root: ReportNode): JsonRecord {
  return { title, started_at: startedAt, path, root: root as unknown as JsonRecord };
}
