/** Loads each example that the arguments name, from its sources as `npm start` does, with `--help`; prints what they printed, as JSON. */
import { format } from 'node:util';

const [node = '', , ...names] = process.argv;
const { log } = console;
const usages: Record<string, string> = {};
for (const name of names) {
  const program = new URL(`../src/${name}.ts`, import.meta.url);
  process.argv = [node, program.pathname, '--help'];
  console.log = (...values: unknown[]) => {
    usages[name] = (usages[name] ?? '') + format(...values);
  };
  await import(program.href);
}
log(JSON.stringify(usages));
