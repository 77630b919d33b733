/**
 * The door of the repository: `npm start` and `npm test` come through here, on a machine that has Node and npm and nothing else.
 * This file must parse on old Node versions, so that they get a sentence instead of a syntax error; everything newer is imported below.
 */
const MINIMUM = { major: 20, minor: 19 };
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < MINIMUM.major || (major === MINIMUM.major && minor < MINIMUM.minor)) {
  console.error(`Tinkex needs Node ${MINIMUM.major}.${MINIMUM.minor} or newer; this is Node ${process.versions.node} (${process.execPath}).
Install a current Node (nodejs.org, nvm, fnm, volta), or borrow one for a single run:

  npx --yes -p node@22 npm ${process.argv[2] || 'test'}
`);
  process.exit(1);
}

import('./run/main.mjs')
  .then((module) => module.main(process.argv.slice(2)))
  .then(
    (code) => {
      process.exitCode = code;
    },
    (error) => {
      console.error(error instanceof Error && error.name === 'SetUpError' ? `tinkex: ${error.message}` : error);
      process.exitCode = 1;
    },
  );
