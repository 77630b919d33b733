import { publishedPackages } from '../packages.mjs';
import { listExamples, startExample } from './examples.mjs';
import { install } from './install.mjs';
import { serve } from './serve.mjs';
import { runTests } from './tests.mjs';

const USAGE = `Usage:
  npm start                           run the quickstart on a local server; no account needed
  npm start -- --inspect              the same, and show it in a browser
  npm start -- --list                 list the examples
  npm start -- <example> [arguments]  run one of them; <example> --help shows its options
  npm start -- --version              show the versions of the packages
  npm run serve -- [options]          serve a local Tinker server to any client, from the sources
  npm test                            run every test
  npm test -- <package...> [options]  run the tests of some packages (types, http, ...); options go to vitest
`;

/**
 * Sets the repository up if needed, then runs the command.
 * @param {string[]} argv
 * @returns {Promise<number>} the exit code
 */
export async function main(argv) {
  const [command, ...rest] = argv;
  const args = rest.filter((argument) => argument !== '--');
  if (command === 'start' && args[0] === '--list') return listExamples();
  if (command === 'start' && ['--help', '-h'].includes(args[0] ?? '')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (command === 'start' && args[0] === '--version') {
    for (const { id, manifest } of publishedPackages()) console.log(`${id.padEnd(24)} ${manifest.version}`);
    return 0;
  }
  if (command === 'start') {
    await install();
    return startExample(args);
  }
  if (command === 'serve') {
    await install();
    return serve(args);
  }
  if (command === 'test') {
    await install();
    return runTests(args);
  }
  if (command === 'install') {
    await install();
    return 0;
  }
  process.stderr.write(USAGE);
  return 2;
}
