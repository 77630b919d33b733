/**
 * Gate: packages import downwards, by name, and nothing that belongs to another layer (the rules are in `.dependency-cruiser.mjs`), and what follows
 * from the manifests is up to date; `npm run format` rewrites it.
 */
import { checkLayers } from '../layers/check-layers.js';
import { staleFiles } from '../manifests/derived.js';
import { root, workspacePackages } from '../packages.mjs';
import { verdict } from './verdict.js';

const { modules, problems } = await checkLayers(root);
verdict('layers', `${modules} modules`, [
  ...problems.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`),
  ...staleFiles(root, workspacePackages()).map(({ file, problem }) => `${file}: ${problem}; npm run format`),
]);
