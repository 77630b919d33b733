import { escapeMarkup, type ReportMessage, type ReportNode } from './report-tree.js';

const STYLE = `
  :root { color-scheme: light dark; --line: #d4d4d8; --soft: #f4f4f5; --accent: #2563eb }
  @media (prefers-color-scheme: dark) { :root { --line: #3f3f46; --soft: #27272a; --accent: #60a5fa } }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem }
  h1, h2, h3, h4 { margin: .75rem 0 .25rem; line-height: 1.25 } h2, h3, h4 { color: var(--accent) }
  h1 { font-size: 1.5rem } h2 { font-size: 1.2rem } h3 { font-size: 1.05rem } h4 { font-size: 1rem }
  .lt-subtitle { opacity: .7 }
  .lt-section { margin: .75rem 0; padding-left: .75rem; border-left: 2px solid var(--line) }
  .lt-p { white-space: pre-wrap }
  .lt-table-caption { font-weight: 600 }
  .lt-table { border-collapse: collapse; margin: .25rem 0; font-size: .875rem }
  .lt-table th, .lt-table td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
  .lt-details summary { cursor: pointer; font-weight: 600 }
  .lt-details-body, .lt-message-content { white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .875rem }
  .lt-message { margin: .25rem 0; padding: .35rem .6rem; border-radius: 6px; background: var(--soft) }
  .lt-message-role { font-weight: 600; font-size: .8rem }
`;

/** A report as a complete page: no script, nothing to load. */
export function reportHtml(title: string, root: ReportNode): string {
  const head = `<head>\n<title>${escapeMarkup(title)}</title>\n<meta charset="UTF-8">\n<meta name="viewport" content="width=device-width, initial-scale=1.0">\n<style>${STYLE}</style></head>`;
  return `<!doctype html>\n<html lang="en">\n${head}\n${nodeHtml(root, 0)}</html>\n`;
}

function nodeHtml({ tag, attrs, children, data }: ReportNode, depth: number): string {
  const indent = '  '.repeat(depth);
  const attributes = Object.entries(attrs).map(([name, value]) => ` ${name}="${escapeMarkup(value)}"`);
  const start = `${indent}<${tag}${attributes.join('')}>`;
  if (data !== undefined) return `${start}${conversationHtml(data.messages)}</${tag}>\n`;
  if (children.every((child) => typeof child === 'string')) return `${start}${children.join('')}</${tag}>\n`;
  const inner = children.map((child) => (typeof child === 'string' ? `${indent}  ${child}\n` : nodeHtml(child, depth + 1)));
  return `${start}\n${inner.join('')}${indent}</${tag}>\n`;
}

function conversationHtml(messages: readonly ReportMessage[]): string {
  const shown = messages.map(({ role, content }) =>
    [
      `  <div class="lt-message lt-message-${escapeMarkup(role)}">`,
      `    <span class="lt-message-role">${escapeMarkup(role)}:</span>`,
      `    <div class="lt-message-content"><span class="lt-text-part">${escapeMarkup(content)}</span></div>`,
      '  </div>\n',
    ].join('\n'),
  );
  return `<div class="lt-conversation">\n${shown.join('')}</div>`;
}
