/** The known name that is most like what was written: the other spelling of a name, a part of one, or the one with the fewest typing errors. */
export function nearest(written: string, known: readonly string[]): string {
  const wanted = plain(written);
  const scores = known.map((name) => ({ name, score: distance(wanted, plain(name)) }));
  scores.sort((left, right) => left.score - right.score);
  return scores[0]?.name ?? '';
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The number of edits that turn one text into the other. Letters that are missing around a part cost little. */
function distance(written: string, name: string): number {
  if (written !== '' && (name.includes(written) || written.includes(name))) return Math.abs(name.length - written.length) / 100;
  let row = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (let i = 1; i <= written.length; i++) {
    const next = [i];
    for (let j = 1; j <= name.length; j++) {
      const isSame = written[i - 1] === name[j - 1];
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1)));
    }
    row = next;
  }
  return row[name.length] ?? 0;
}
