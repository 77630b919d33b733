/** Something that happens once, and that others wait for. */
export interface Moment {
  readonly reached: Promise<void>;
  reach(): void;
}

/** A moment that has not come. */
export function moment(): Moment {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach: () => reach() };
}
