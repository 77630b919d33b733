/** Prints the usage of the examples named as arguments, in one process: starting eleven would take most of the suite's time. */
const [node = '', self = '', ...names] = process.argv;
for (const name of names) {
  const program = new URL(`../src/${name}.ts`, import.meta.url);
  process.argv = [node, program.pathname, '--help'];
  console.log(`=== ${name}`);
  await import(program.href);
}
process.argv = [node, self];
