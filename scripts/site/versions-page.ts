/** The first page of the site: leads to the newest minor version, and lists all. `next`, what is not released yet, is the newest only if it is alone. */
export function versionsPage(versions: readonly string[]): string {
  const sorted = [...versions].sort((one, other) => -compare(one, other));
  const links = sorted.map((version) => `<li><a href="./${version}/">${version}</a></li>`).join('');
  const refresh = `<meta http-equiv="refresh" content="0; url=./${sorted[0]}/">`;
  return `<!doctype html><html lang="en"><title>Tinkex</title>${refresh}<h1>Tinkex</h1><ul>${links}</ul></html>\n`;
}

/** 0.10 is newer than 0.9. */
function compare(one: string, other: string): number {
  const [[major, minor], [otherMajor, otherMinor]] = [partsOf(one), partsOf(other)];
  return major - otherMajor || minor - otherMinor;
}

function partsOf(version: string): [major: number, minor: number] {
  const [major = -1, minor = -1] = version.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : -1));
  return [major, minor];
}
