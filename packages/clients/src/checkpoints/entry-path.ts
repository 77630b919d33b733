import { byteLengthOf } from '@tinkex/http/runtime';
import { ValidationError } from '@tinkex/types';

const MAX_DEPTH = 32;
const MAX_SEGMENT_BYTES = 255;

/**
 * The path segments of a file of a checkpoint, or an error when the name could point outside the directory it is written to.
 * Checked by segment, never by text prefix. `.` segments are dropped; an empty result means the directory itself.
 */
export function entryPathSegments(name: string): string[] {
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw unsafe(name, 'is absolute');
  if (name.includes('\\')) throw unsafe(name, 'contains a backslash');
  if (hasControlCharacter(name)) throw unsafe(name, 'contains a control character');
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw unsafe(name, 'leaves its directory');
  if (segments.length > MAX_DEPTH) throw unsafe(name, `is deeper than ${MAX_DEPTH} directories`);
  if (segments.some((segment) => byteLengthOf(segment) > MAX_SEGMENT_BYTES)) throw unsafe(name, 'has a name that is too long');
  return segments;
}

function hasControlCharacter(name: string): boolean {
  for (let index = 0; index < name.length; index += 1) if (name.charCodeAt(index) < 0x20) return true;
  return false;
}

function unsafe(name: string, why: string): ValidationError {
  return checkpointRefused(`the file name ${JSON.stringify(name.slice(0, 200))} ${why}`);
}

/** The error of a checkpoint that is refused. Nothing of it is left on disk when the caller receives it. */
export function checkpointRefused(what: string, cause?: unknown): ValidationError {
  return new ValidationError({
    message: `The checkpoint was refused: ${what}.`,
    direction: 'response',
    issues: [{ path: '', message: what }],
    cause,
  });
}
