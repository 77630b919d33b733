/** What a version of the reference shows of itself; drawn by `picture.py`. Lists are sets, objects are named parts. */
export interface Picture {
  readonly [section: string]: PictureValue;
}

type PictureValue = string | readonly string[] | { readonly [name: string]: PictureValue };

/** One difference between two pictures. `path` names the part, for example `models SampleRequest fields seed`. */
export interface Change {
  readonly path: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Lists what was added, removed or changed from one picture to the next, in reading order. */
export function comparePictures(before: Picture, after: Picture): Change[] {
  const old = flatten(before);
  const now = flatten(after);
  return [...new Set([...old.keys(), ...now.keys()])]
    .sort()
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((change) => change.before !== change.after);
}

/** Writes a change as one line: `+` added, `-` removed, `~` changed. */
export function describeChange({ path, before, after }: Change): string {
  if (before === undefined) return `+ ${path}${after === '' ? '' : `: ${after}`}`;
  if (after === undefined) return `- ${path}${before === '' ? '' : `: ${before}`}`;
  return `~ ${path}: ${before} -> ${after}`;
}

/** Each leaf of a picture under the path of its names. Members of a list have no value: their path says it all. */
function flatten(value: PictureValue, path = '', into = new Map<string, string>()): Map<string, string> {
  const under = (name: string): string => (path === '' ? name : `${path} ${name}`);
  if (typeof value === 'string') into.set(path, value);
  else if (isList(value)) for (const member of value) into.set(under(member), '');
  else for (const [name, part] of Object.entries(value)) flatten(part, under(name), into);
  return into;
}

function isList(value: PictureValue): value is readonly string[] {
  return Array.isArray(value);
}
