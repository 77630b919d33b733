import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@tinkex/http';
import type { EventRecord } from './event-record.js';

/** Options of an {@link EventStore}. */
export interface EventStoreOptions {
  readonly clock: Clock;
  /** When a file is full. Default 4 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** How many files there are; the oldest goes first. Default 16. */
  readonly maxFiles?: number | undefined;
  /** How long a record may wait in memory. Default 250 ms. */
  readonly flushAfterMs?: number | undefined;
}

const FILE = /^(\w+)-(\d+)\.jsonl$/;

/**
 * An append-only store of records: numbered JSONL files, of which only the newest are kept. Lines are collected for a moment and written in one call of the system,
 * so that a crash of the process loses that moment and a reader sees whole lines. Writing is synchronous: a few kilobytes, at most a few times a second.
 */
export class EventStore {
  readonly #folder: string;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #maxFileBytes: number;
  readonly #maxFiles: number;
  readonly #flushAfterMs: number;
  #file: number | undefined;
  #number: number;
  #fileBytes = 0;
  #waiting: string[] = [];
  #timer: unknown;

  /** Continues after the files that are there. Creates the folder. */
  constructor(folder: string, name: string, { clock, maxFileBytes, maxFiles, flushAfterMs }: EventStoreOptions) {
    this.#folder = folder;
    this.#name = name;
    this.#clock = clock;
    this.#maxFileBytes = maxFileBytes ?? 4 * 1024 * 1024;
    this.#maxFiles = maxFiles ?? 16;
    this.#flushAfterMs = flushAfterMs ?? 250;
    mkdirSync(folder, { recursive: true });
    this.#number = numbersIn(folder, name).at(-1) ?? 0;
  }

  append(record: EventRecord): void {
    this.#waiting.push(JSON.stringify(record));
    this.#timer ??= this.#clock.setTimeout(() => this.flush(), this.#flushAfterMs);
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    if (this.#file === undefined || this.#fileBytes + bytes.length > this.#maxFileBytes) this.#nextFile();
    if (this.#file !== undefined) writeSync(this.#file, bytes);
    this.#fileBytes += bytes.length;
  }

  close(): void {
    this.flush();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #nextFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#number += 1;
    this.#fileBytes = 0;
    this.#file = openSync(join(this.#folder, fileName(this.#name, this.#number)), 'a');
    for (const old of numbersIn(this.#folder, this.#name).slice(0, -this.#maxFiles)) {
      rmSync(join(this.#folder, fileName(this.#name, old)), { force: true });
    }
  }
}

/** The files of a store, oldest first. */
export function storeFiles(folder: string, name: string): string[] {
  return numbersIn(folder, name).map((number) => join(folder, fileName(name, number)));
}

function fileName(name: string, number: number): string {
  return `${name}-${String(number).padStart(6, '0')}.jsonl`;
}

function numbersIn(folder: string, name: string): number[] {
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    // There is no recording here.
    return [];
  }
  const found = files.map((file) => FILE.exec(file)).filter((match) => match?.[1] === name);
  return found.map((match) => Number(match?.[2])).sort((a, b) => a - b);
}
