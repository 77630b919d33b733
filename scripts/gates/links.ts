/** Gate: relative links and anchors in all Markdown files lead somewhere. */
import { checkLinks } from '../docs/check-links.js';
import { root } from '../packages.mjs';
import { listFiles } from './files.js';
import { verdict } from './verdict.js';

const files = listFiles(root, /\.md$/);
const { links, problems } = checkLinks(root, files);
verdict('docs:links', `${links} links in ${files.length} files`, problems);
