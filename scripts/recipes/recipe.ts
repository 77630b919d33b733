/** One change of one file of the repository. */
export type Edit = {
  /** Relative to the root. */
  readonly file: string;
} & (
  | { readonly create: string }
  /** The text must occur exactly once in the file. */
  | { readonly find: string; readonly replace: string }
);

/** A worked example of a page in docs/contributing: the smallest change of that kind that is complete. */
export interface Recipe {
  /** The name of the page, without its extension. */
  readonly page: string;
  readonly edits: readonly Edit[];
  /** Packages to type-check, by folder: those that the change touches, and those that use them. */
  readonly typecheck: readonly string[];
  /** The tests that prove the change, by package. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
}

/** Creates a file. */
export const create = (file: string, content: string): Edit => ({ file, create: content });

/** Inserts text before an anchor. */
export const before = (file: string, anchor: string, text: string): Edit => ({ file, find: anchor, replace: `${text}${anchor}` });

/** Inserts text after an anchor. */
export const after = (file: string, anchor: string, text: string): Edit => ({ file, find: anchor, replace: `${anchor}${text}` });

/** The content of a file after its edits. Throws when an anchor is missing or not unique: then the example must follow the source. */
export function applyEdits(file: string, content: string | undefined, edits: readonly Edit[]): string {
  return edits.reduce((text, edit) => {
    if ('create' in edit) {
      if (content !== undefined) throw new Error(`${file} exists already.`);
      return edit.create;
    }
    const occurrences = text.split(edit.find).length - 1;
    if (occurrences !== 1) throw new Error(`The anchor ${JSON.stringify(edit.find)} occurs ${occurrences} times in ${file}.`);
    return text.replace(edit.find, () => edit.replace);
  }, content ?? '');
}

/** The files that a page names, in its table: `<area>` in a name stands for one part of a path. */
export function filesNamedBy(page: string): string[] {
  return [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, file = '']) => file);
}

/** What the list of a page and the files of its example disagree about. */
export function disagreements(named: readonly string[], touched: readonly string[]): string[] {
  const patterns = named.map((name) => ({
    name,
    pattern: new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/<[^>]+>/g, '[^/]+')}$`),
  }));
  return [
    ...touched.filter((file) => !patterns.some(({ pattern }) => pattern.test(file))).map((file) => `the page does not name ${file}`),
    ...patterns
      .filter(({ pattern }) => !touched.some((file) => pattern.test(file)))
      .map(({ name }) => `the example does not touch ${name}`),
  ];
}
