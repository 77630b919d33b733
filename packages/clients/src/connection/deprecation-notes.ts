import type { DeprecationNotice } from '@tinkex/http';
import { redactText } from '@tinkex/types/wire';
import { notifyUser } from '../runtime/notify-user.js';
import type { ServerMessage } from './connection-options.js';

/** A server that varies its note with each response must not fill the memory. */
const MAX_REMEMBERED_NOTES = 100;
const MAX_NOTE_LENGTH = 2_000;

/** Shows each deprecation note of the server once: it comes with every response of a kind. */
export function showNotesOnce(onServerMessage: (message: ServerMessage) => void): (notice: DeprecationNotice) => void {
  const shown = new Set<string>();
  return ({ note, level }) => {
    if (shown.has(note) || shown.size >= MAX_REMEMBERED_NOTES) return;
    shown.add(note);
    notifyUser(onServerMessage, { level, text: `Deprecation notice: ${redactText(note, MAX_NOTE_LENGTH)}` });
  };
}
