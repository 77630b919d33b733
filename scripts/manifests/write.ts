/** Brings everything up to date that follows from the manifests and the measured ratios; part of `npm run format`. The gate `layers` finds what is stale. */
import { root, workspacePackages } from '../packages.mjs';
import { staleFiles, writeStale } from './derived.js';

const stale = staleFiles(root, workspacePackages());
writeStale(root, stale);
for (const { file } of stale) console.log(`${file}: brought up to date`);
