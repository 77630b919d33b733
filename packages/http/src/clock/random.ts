/** Chance as every layer sees it: a uniform number in [0, 1), like `Math.random`. Inject a seeded one in tests. */
export type Random = () => number;
