/** Small sampling calls with a fixed number in flight. */
import { program } from '../measure/program.js';
import { costOfCalls, type Load } from '../measure/repeat.js';
import { samplerOf } from './sampling-contenders.js';

interface Task extends Load {
  readonly contender: string;
  readonly baseUrl: string;
}

await program(async ({ contender, baseUrl, ...load }: Task) => {
  const { sample } = await samplerOf(contender, baseUrl);
  return costOfCalls(sample, load);
});
