import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, workspacePackages } from '../packages.mjs';
import { run, SetUpError } from './spawn.mjs';

const STAMP = join(root, 'node_modules', '.tinkex-install');

/** Installs the workspace from the frozen lockfile unless the last installation used exactly these files. */
export async function install() {
  const fingerprint = fingerprintOfInputs();
  if (isInstalled(fingerprint)) return;
  const pnpm = pinnedPnpm();
  console.log(`tinkex: installing dependencies with ${pnpm} (first run, or the lockfile changed)`);
  rmSync(STAMP, { force: true });
  const args = ['--yes', pnpm, '--dir', root, 'install', '--frozen-lockfile', '--prod=false', '--reporter=append-only'];
  // CI=true: pnpm asks nothing, even without a terminal. NODE_ENV would make npm and pnpm leave development dependencies out.
  // npm_config_package: under another npx (the matrix) it would make this one run that package instead of pnpm.
  const unset = { NODE_ENV: undefined, npm_config_omit: undefined, npm_config_production: undefined, npm_config_package: undefined };
  const env = { ...process.env, CI: 'true', ...unset, npm_config_local_prefix: undefined };
  // From elsewhere, because inside the workspace npx would take the pnpm in `node_modules`, which an installation may have to remove.
  const code = await run('npx', args, { env, cwd: tmpdir() });
  if (code !== 0) throw new SetUpError(`the installation failed (exit code ${code}); the lines above say why`);
  writeFileSync(STAMP, fingerprint);
  console.log('tinkex: installed');
}

function pinnedPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (!/^pnpm@\d+\.\d+\.\d+$/.test(packageManager))
    throw new SetUpError(`package.json pins an unexpected package manager: ${packageManager}`);
  return packageManager;
}

function fingerprintOfInputs() {
  const hash = createHash('sha256').update(`${pinnedPnpm()} ${process.platform} ${process.arch}\n`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** @param {string} fingerprint */
function isInstalled(fingerprint) {
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== fingerprint) return false;
  return workspacePackages().every(({ dir }) => existsSync(join(dir, 'node_modules')));
}
