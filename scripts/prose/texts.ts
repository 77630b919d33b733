import ts from 'typescript';
import { withoutCode } from '../docs/markdown.js';

/** A piece of prose and where it begins in its file. */
export interface Prose {
  readonly start: number;
  /** As long as in the file; code, links and comment marks are blanked out. */
  readonly text: string;
}

const BLANK = '\u00b7';
const TITLE_CALLS = new Set(['it', 'describe', 'test', 'bench']);

/** The prose of a file: of Markdown everything but code; of a program its comments and the sentences among its strings, in tests titles only. */
export function proseOf(file: string, source: string): readonly Prose[] {
  if (file.endsWith('.md')) return [{ start: 0, text: withoutLinks(blankMarkdownCode(source)) }];
  const program = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const isTest = /\.(test|test-d)\.ts$|(^|\/)test\//.test(file);
  const add = (start: number, end: number, isComment: boolean): void => {
    const raw = source.slice(start, end);
    found.set(start, { start, text: isComment ? blankCommentMarks(raw) : blankCode(raw) });
  };
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source, node.pos) ?? []) add(pos, end, true);
    for (const { pos, end } of ts.getTrailingCommentRanges(source, node.end) ?? []) add(pos, end, true);
    if (isText(node) && isSentence(node) && (!isTest || isTitle(node))) add(node.getStart(program), node.end, false);
    for (const child of node.getChildren(program)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(program);
  return [...found.values()].sort((a, b) => a.start - b.start);
}

function isText(node: ts.Node): node is ts.LiteralLikeNode {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
}

function isSentence({ text }: ts.LiteralLikeNode): boolean {
  return /[a-z,.]\s+[a-z]/i.test(text);
}

/** Whether a string is the first argument of `it`, `it.each(…)`, `describe` and the like. */
function isTitle(node: ts.Node): boolean {
  const call = node.parent;
  if (call === undefined || !ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  let callee: ts.Expression = call.expression;
  while (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) callee = callee.expression;
  return ts.isIdentifier(callee) && TITLE_CALLS.has(callee.text);
}

const blank = (text: string): string => text.replace(/[^\n]/g, BLANK);

function blankCode(text: string): string {
  return withoutLinks(text.replace(/(`+)[^`\n]*\1/g, blank).replace(/\{@\w+[^}]*\}/g, blank));
}

function blankCommentMarks(text: string): string {
  const plain = text.replace(/^[ \t]*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/+)/gm, (marks) => ' '.repeat(marks.length));
  const withoutExamples = plain.replace(/```[\s\S]*?```/g, blank);
  return blankCode(withoutExamples.replace(/@param \S+/g, blank));
}

function blankMarkdownCode(source: string): string {
  // `withoutCode` empties the lines of fences; positions inside the file must stay, so each is filled up again.
  const plain = withoutCode(source).split('\n');
  return source
    .split(/\n/)
    .map((line, index) => (plain[index] === '' ? ' '.repeat(line.length) : (plain[index] ?? '').padEnd(line.length)))
    .join('\n');
}

/** Addresses and the targets of Markdown links are not prose. */
function withoutLinks(text: string): string {
  return text.replace(/\b[a-z]+:\/\/\S+/gi, blank).replace(/\]\([^)\s]*\)/g, blank);
}
