import type { EngineState } from '../engine/engine.js';

const PAGE_BYTES = 4096;

/**
 * A copy of what a model's engine remembers, as it was last written. It knows which pages have changed since: an operation that touches a few
 * rows of a large table writes a few pages.
 */
export class PagedState {
  readonly #parts = new Map<string, Buffer>();

  constructor(state: EngineState = new Map()) {
    this.update(state);
  }

  /** The size of each part. */
  get sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#parts].map(([name, { length }]) => [name, length]));
  }

  /** Takes over a new state and returns the names of the pages that differ. */
  update(state: EngineState): string[] {
    const changed: string[] = [];
    for (const name of this.#parts.keys()) if (!state.has(name)) this.#parts.delete(name);
    for (const [name, bytes] of state) {
      const before = this.#parts.get(name);
      const isResized = before?.length !== bytes.length;
      const copy = isResized ? Buffer.alloc(bytes.length) : before;
      this.#parts.set(name, copy);
      for (let start = 0; start < bytes.length; start += PAGE_BYTES) {
        const end = Math.min(start + PAGE_BYTES, bytes.length);
        const page = bytes.subarray(start, end);
        // A page of zeros is not written: that is what a new part consists of.
        if (copy.compare(page, 0, page.length, start, end) === 0 && !(isResized && before !== undefined)) continue;
        copy.set(page, start);
        changed.push(pageName(name, start / PAGE_BYTES));
      }
    }
    return changed;
  }

  /** The names of all pages that are not zero. */
  names(): string[] {
    const zeros = Buffer.alloc(PAGE_BYTES);
    return [...this.#parts].flatMap(([name, bytes]) => {
      const indices = Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, index) => index);
      const isUsed = (index: number) => !slice(bytes, index).equals(zeros.subarray(0, slice(bytes, index).length));
      return indices.filter(isUsed).map((index) => pageName(name, index));
    });
  }

  /** The content of a page; undefined when the state no longer has it. */
  get(name: string): Buffer | undefined {
    const [, index, part] = /^(\d+) (.*)$/s.exec(name) ?? [];
    const bytes = this.#parts.get(part ?? '');
    return bytes === undefined || Number(index) * PAGE_BYTES >= bytes.length ? undefined : slice(bytes, Number(index));
  }
}

/** Puts a state together again from its pages. */
export function joinPages(sizes: Readonly<Record<string, number>>, pageOf: (name: string) => Uint8Array | undefined): EngineState {
  const parts = Object.entries(sizes).map(([name, size]) => {
    const bytes = new Uint8Array(size);
    for (let index = 0; index * PAGE_BYTES < size; index++) bytes.set(pageOf(pageName(name, index)) ?? [], index * PAGE_BYTES);
    return [name, bytes] as const;
  });
  return new Map(parts);
}

function slice(bytes: Buffer, index: number): Buffer {
  return bytes.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES);
}

function pageName(part: string, index: number): string {
  return `${index} ${part}`;
}
