const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const WEEK = 7 * DAY;

/** A moment relative to now, up to 30 days; then the date. Text that is not a date stays as it is, and nothing is `N/A`. */
export function formatTime(value: Date | string | undefined | null, now: Date): string {
  if (value === undefined || value === null || value === '') return 'N/A';
  const moment = typeof value === 'string' ? new Date(value) : value;
  if (Number.isNaN(moment.getTime())) return String(value);
  const seconds = (now.getTime() - moment.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (Math.floor(distance / DAY) > 30) return moment.toISOString().slice(0, 10);
  const isPast = seconds >= 0;
  if (distance <= MINUTE) return isPast ? 'just now' : 'in less than a minute';
  const text = spanOf(distance);
  return isPast ? `${text} ago` : `in ${text}`;
}

function spanOf(seconds: number): string {
  if (Math.floor(seconds / DAY) > 7) return counted(Math.floor(seconds / WEEK), 'week');
  if (seconds >= DAY) return counted(Math.floor(seconds / DAY), 'day');
  if (seconds > HOUR) return counted(Math.floor(seconds / HOUR), 'hour');
  return counted(Math.floor(seconds / MINUTE), 'minute');
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** As Python prints a moment in UTC: `2026-08-08 03:35:23+00:00`, which is how the JSON of runs and checkpoints has it. */
export function pythonTime(moment: Date): string {
  const [date, time = ''] = moment.toISOString().split('T');
  const milliseconds = moment.getUTCMilliseconds();
  const fraction = milliseconds === 0 ? '' : `.${String(milliseconds * 1000).padStart(6, '0')}`;
  return `${date} ${time.slice(0, 8)}${fraction}+00:00`;
}
