import { readFileSync } from 'node:fs';

const base = process.env.TINKEX_SITE_BASE ?? '/';
const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

export default {
  title: 'Tinkex',
  description: 'The TypeScript toolkit for the Tinker API: fine-tune and sample language models.',
  lang: 'en-US',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  lastUpdated: false,
  // A guide may mention the address of a server that you start yourself.
  ignoreDeadLinks: [/^https?:\/\/(?:127\.0\.0\.1|localhost)/],
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Guides', link: '/guides/' },
      { text: 'Packages', link: '/packages/clients' },
      { text: 'Examples', link: '/examples/' },
      { text: 'API', link: '/api/' },
      {
        text: 'More',
        items: [
          { text: 'Protocol', link: '/protocol/' },
          { text: 'Architecture', link: '/project/architecture' },
          { text: 'Contributing', link: '/project/contributing' },
          { text: 'Decisions', link: '/decisions/0001-two-commands' },
        ],
      },
    ],
    sidebar: { ...read('./sidebar.json'), '/api/': read('./api-sidebar.json') },
    outline: [2, 3],
    search: { provider: 'local' },
    footer: { message: 'Apache-2.0' },
  },
};
