import { expect, it } from 'vitest';
import { versionsPage } from './versions-page.js';

it('leads to the newest minor version and lists all', () => {
  const page = versionsPage(['0.9', 'next', '0.10']);
  expect(page).toContain('url=./0.10/');
  expect([...page.matchAll(/>([\w.]+)<\/a>/g)].map(([, version]) => version)).toEqual(['0.10', '0.9', 'next']);
  expect(versionsPage(['next'])).toContain('url=./next/');
});
