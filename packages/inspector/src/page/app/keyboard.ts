import { signal } from '@preact/signals';
import { goTo, VIEWS } from './route.js';
import { currentRun, runs } from './store.js';
import { nextTheme } from './theme.js';

/** Whether the list of keys is open. */
export const isHelpOpen = signal(false);

/** The keys, for the list. */
export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['1 … 9, 0', 'open a view'],
  ['j, k', 'next or previous run'],
  ['/', 'filter'],
  ['t', 'light, dark, as the system'],
  ['?', 'show these keys'],
  ['Esc', 'close'],
];

/** Keys that work everywhere but in a field. */
export function installShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
    if (event.key === 'Escape') isHelpOpen.value = false;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(event.key)) event.preventDefault();
  });
}

function press(key: string): boolean {
  if (/^\d$/.test(key)) {
    const view = VIEWS[key === '0' ? 9 : Number(key) - 1];
    if (view !== undefined) goTo({ view });
  } else if (key === 'j' || key === 'k') {
    moveRun(key === 'j' ? 1 : -1);
  } else if (key === '/') {
    document.querySelector<HTMLInputElement>('[data-filter]')?.focus();
  } else if (key === 't') {
    nextTheme();
  } else if (key === '?') {
    isHelpOpen.value = !isHelpOpen.value;
  } else {
    return false;
  }
  return true;
}

function moveRun(by: number): void {
  const index = runs.value.findIndex(({ id }) => id === currentRun.value?.id);
  const next = runs.value[index + by];
  if (next !== undefined) goTo({ run: next.id });
}
