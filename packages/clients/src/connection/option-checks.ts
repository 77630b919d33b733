import { ConfigurationError } from '@tinkex/types';

/** @throws ConfigurationError unless the value is a positive, finite number or unset. */
export function requirePositive(value: unknown, option: string): void {
  if (value === undefined) return;
  if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
    throw new ConfigurationError({ message: `Option ${option} must be a positive number, got ${String(value)}.`, option });
  }
}

/** @throws ConfigurationError unless the value is a finite number from `least` up, or unset. */
export function requireAtLeast(least: number, value: unknown, option: string): void {
  requirePositive(value, option);
  if (typeof value === 'number' && value < least) {
    throw new ConfigurationError({ message: `Option ${option} must be ${least} or more, got ${value}.`, option });
  }
}
