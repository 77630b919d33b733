/** A fenced block of a Markdown file. */
export interface FencedBlock {
  /** The words after the backticks: `['ts', 'no-run']`. */
  readonly info: readonly string[];
  /** The line of the file on which the code begins, counted from 1. */
  readonly line: number;
  readonly code: string;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`]*)$/;

/** All fenced blocks of a Markdown text. A block that is never closed reaches to the end, as renderers have it. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { fence: string; indent: number; info: string[]; line: number; lines: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push({ info: open.info, line: open.line, code: `${open.lines.join('\n')}\n` });
    open = undefined;
  };
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const [, indent = '', fence = '', info = ''] = FENCE.exec(text) ?? [];
    if (open === undefined) {
      if (fence !== '') open = { fence, indent: indent.length, info: info.trim().split(/\s+/).filter(Boolean), line: index + 2, lines: [] };
    } else if (fence.startsWith(open.fence) && info.trim() === '') {
      close();
    } else {
      open.lines.push(text.slice(Math.min(open.indent, text.length - text.trimStart().length)));
    }
  }
  close();
  return blocks;
}

/** The text with everything inside fences and code spans blanked out, line by line, so that line numbers stay. */
export function withoutCode(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split(/\r?\n/)
    .map((text) => {
      const [, , marks = '', info = ''] = FENCE.exec(text) ?? [];
      if (fence === undefined && marks !== '') {
        fence = marks;
        return '';
      }
      if (fence !== undefined) {
        if (marks.startsWith(fence) && info.trim() === '') fence = undefined;
        return '';
      }
      return text.replace(/(`+)(?!`).*?[^`]\1(?!`)/g, (span) => ' '.repeat(span.length));
    })
    .join('\n');
}

/** The anchors a Markdown file offers, as GitHub names them: one per heading, numbered when repeated, and explicit `id`s. */
export function anchors(markdown: string): Set<string> {
  const found = new Set<string>();
  const plain = withoutCode(markdown).split('\n');
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    // A heading may contain a code span, so its text is taken from the original; that it is a heading, from the stripped lines.
    const isHeading = /^ {0,3}#{1,6}\s/.test(plain[index] ?? '');
    if (isHeading) addNumbered(found, headingSlug(text.replace(/^ {0,3}#{1,6}\s+/, '').replace(/\s+#+\s*$/, '')));
    for (const [, id = ''] of (plain[index] ?? '').matchAll(/<[a-z]+[^>]*\s(?:id|name)="([^"]+)"/gi)) found.add(id);
  }
  return found;
}

/** The anchor of a heading, as GitHub names it. */
export function headingSlug(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

function addNumbered(names: Set<string>, name: string): void {
  let candidate = name;
  for (let count = 1; names.has(candidate); count += 1) candidate = `${name}-${count}`;
  names.add(candidate);
}
