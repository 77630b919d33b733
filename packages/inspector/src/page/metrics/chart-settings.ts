import { signal } from '@preact/signals';

/** How the charts are drawn, the same for all of them. */
export const isLog = signal(false);

/** From 0 to 0.99. */
export const smoothing = signal(0);

/** The steps that the charts show; undefined for all. */
export const range = signal<readonly [number, number] | undefined>(undefined);

/** Which metrics are shown. */
export const metricFilter = signal('');
