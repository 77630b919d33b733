/** Gate: packages import downwards, by name, and nothing they should not know. The rules are in `.dependency-cruiser.mjs`. */
import { checkLayers } from '../layers/check-layers.js';
import { root } from '../run/workspace.mjs';
import { verdict } from './verdict.js';

const { modules, problems } = await checkLayers(root);
verdict(
  'layers',
  `${modules} modules`,
  problems.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`),
);
