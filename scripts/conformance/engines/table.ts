/** What came of a feature: numbers to compare, nothing, or an error. */
export type Outcome =
  | { readonly value?: readonly number[] | null | undefined }
  | { readonly error: string; readonly status?: number | undefined };

/** What one server did. */
export interface ServerReport {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** The version of the Python SDK; undefined when it was not run. */
  readonly pythonVersion: string | undefined;
  readonly ours: Readonly<Record<string, Outcome>>;
  readonly python: Readonly<Record<string, Outcome>>;
  /** Examples, and how each ended. */
  readonly examples: Readonly<Record<string, Outcome>>;
}

const START = '<!-- engines:start, written by pnpm conformance:engines -->';
const END = '<!-- engines:end -->';
const MAX_ERROR = 170;

/** The tables server × feature × client, as Markdown. */
export function reportMarkdown(reports: readonly ServerReport[]): string {
  const heads = reports.flatMap(({ name, version, pythonVersion }) => [
    `${name} ${version}`,
    pythonVersion === undefined ? 'Python SDK (not run)' : `Python SDK ${pythonVersion}`,
  ]);
  const features = namesOf(reports, ({ ours }) => ours);
  const rows = features.map((feature) => [feature, ...reports.flatMap((report) => featureCells(report, feature))]);
  const examples = namesOf(reports, (report) => report.examples);
  const exampleRows = examples.map((example) => [`\`${example}\``, ...reports.map((report) => shortCell(report.examples[example]))]);
  return [
    table(['feature', ...heads], rows),
    'The columns with the name of a server are this client. "equal": the same numbers as this client, to the last digit.',
    table(['example', ...reports.map(({ name, version }) => `${name} ${version}`)], exampleRows),
    'What this client and the examples say where the answer is no:',
    reports.flatMap(explanations).join('\n'),
  ].join('\n\n');
}

/** Replaces the tables in a document. Throws when it has no place for them. */
export function withReport(document: string, markdown: string): string {
  const [start, end] = [document.indexOf(START), document.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`the document has no lines "${START}" and "${END}"`);
  return `${document.slice(0, start + START.length)}\n\n${markdown}\n\n${document.slice(end)}`;
}

/** A cell for each client: what ours did, and what Python did with the comparison. */
function featureCells({ ours, python }: ServerReport, feature: string): [string, string] {
  const [own, theirs] = [ours[feature], python[feature]];
  return [shortCell(own), shortCell(theirs) + comparison(own, theirs)];
}

function shortCell(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '–';
  if (!('error' in outcome)) return 'yes';
  if (outcome.error.startsWith('no answer')) return outcome.error;
  return outcome.status === undefined ? 'no' : `no (${outcome.status})`;
}

/** How far the numbers of both clients are apart, if both have some. */
function comparison(own: Outcome | undefined, theirs: Outcome | undefined): string {
  const [a, b] = [numbersOf(own), numbersOf(theirs)];
  if (a === undefined || b === undefined) return '';
  if (a.length !== b.length) return `, ${b.length} numbers instead of ${a.length}`;
  const difference = Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? Number.NaN))));
  return difference === 0 ? ', equal' : `, differs by ${difference.toPrecision(1)}`;
}

function numbersOf(outcome: Outcome | undefined): readonly number[] | undefined {
  return outcome !== undefined && 'value' in outcome ? (outcome.value ?? undefined) : undefined;
}

function explanations({ name, ours, examples }: ServerReport): string[] {
  return Object.entries({ ...ours, ...examples }).flatMap(([what, outcome]) =>
    'error' in outcome ? [`- ${name}, ${what}: ${oneLine(outcome.error)}`] : [],
  );
}

function namesOf(reports: readonly ServerReport[], part: (report: ServerReport) => Readonly<Record<string, Outcome>>): string[] {
  return [...new Set(reports.flatMap((report) => Object.keys(part(report))))];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('<', '&lt;').trim();
  return line.length > MAX_ERROR ? `${line.slice(0, MAX_ERROR)}…` : line;
}
