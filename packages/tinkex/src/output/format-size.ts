const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB', 'EB'] as const;

/** Bytes in steps of 1024: `500 B`, `1.5 KB`. Unknown and negative sizes are `N/A`. */
export function formatSize(bytes: number | undefined): string {
  if (bytes === undefined || bytes < 0) return 'N/A';
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}
