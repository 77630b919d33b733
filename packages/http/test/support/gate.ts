/** A promise that is opened from outside: tests wait for events, never for time. */
export class Gate<T = void> {
  readonly opened: Promise<T>;
  readonly open: (value: T) => void;

  constructor() {
    let open: (value: T) => void = () => undefined;
    this.opened = new Promise((resolve) => {
      open = resolve;
    });
    this.open = open;
  }
}
