import type { RecordedCall } from '../recorder/recorded-call.js';

/** One line of the request log: when, what, how it ended, how long it took, and what was wrong with it. */
export function logLine(call: RecordedCall): string {
  const time = new Date(call.arrivedAtMs).toISOString().slice(11, 23);
  const took = `${Math.round((call.repliedAtMs ?? call.arrivedAtMs) - call.arrivedAtMs)} ms`;
  const parts = [time, call.method.padEnd(6), call.path, '->', String(call.status ?? '(no reply)'), took, sizeText(call)];
  if (call.requestId !== undefined) parts.push(call.requestId);
  if (call.fault !== undefined) parts.push(`fault: ${call.fault}`);
  for (const { rule, detail } of call.violations) parts.push(`\n             ! ${rule}: ${detail}`);
  return parts.join(' ');
}

function sizeText(call: RecordedCall): string {
  return `${call.requestBytes}/${call.replyBytes ?? 0} B`;
}
