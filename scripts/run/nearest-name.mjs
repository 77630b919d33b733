/**
 * The name that was probably meant: the one with the fewest edits, a swap of neighbors being one, if these are few for its length.
 * @param {string} typed
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
export function nearestName(typed, names) {
  const ranked = names.map((name) => ({ name, edits: editsBetween(typed, name) })).sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best !== undefined && best.edits <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** @param {string} a @param {string} b */
function editsBetween(a, b) {
  /** @type {number[][]} */
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const edits = [
        (rows[row - 1]?.[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (rows[row - 1]?.[column - 1] ?? 0) + (isSame ? 0 : 1),
      ];
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) edits.push((rows[row - 2]?.[column - 2] ?? 0) + 1);
      current.push(Math.min(...edits));
    }
    rows.push(current);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
