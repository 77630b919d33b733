import { effect, signal } from '@preact/signals';

/** What the user wants; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'tinkex-theme';
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

/** The user's choice. */
export const theme = signal<Theme>(stored());

/** Whether the page is dark now. Charts are drawn again when it changes. */
export const isDark = signal(false);

/** Applies the theme, and follows the system's. */
export function installTheme(): void {
  const apply = (): void => {
    isDark.value = theme.value === 'dark' || (theme.value === 'auto' && darkSystem.matches);
    document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
  };
  darkSystem.addEventListener('change', apply);
  effect(apply);
}

/** Goes to the next choice. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A browser that stores nothing forgets the choice with the page.
  }
}

function stored(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    // The browser stores nothing.
    return 'auto';
  }
}
