import { mkdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ServiceClient } from '@tinkex/clients';
import type { EnvGroup, TrainingRun } from '@tinkex/cookbook';
import { withPatientService } from '../config/connect.js';
import type { LoadedConfig } from '../config/load-config.js';
import type { DpoConfig, GradeAnswer, ProjectConfig, RlConfig, SftConfig } from '../config/project-config.js';
import { writeRunOrigin } from '../config/run-origin.js';
import { CommandFailure } from '../output/command-failure.js';
import { EXIT } from '../output/exit-codes.js';
import { showRecord } from '../output/show-result.js';
import { TrainingProgress } from '../output/training-progress.js';
import type { CommandContext } from './command-context.js';

/** What every loop gets besides its own options. */
interface LoopParts {
  readonly service: ServiceClient;
  readonly logPath: string;
  readonly signal: AbortSignal;
  readonly onStep: (step: number, metrics: Readonly<Record<string, unknown>>) => void;
  readonly onWarning: (message: string) => void;
}

/** Trains what a configuration describes, or continues it, and shows what came of it. */
export async function runRecipe(context: CommandContext, loaded: LoadedConfig): Promise<void> {
  const { terminal, signal, format } = context;
  const { config, folder } = loaded;
  const logPath = resolve(folder, config.logPath);
  const files = [config.data].flat().map((file) => resolve(folder, file));
  const loop = await prepareLoop(config, files);
  const options = { baseUrl: config.baseUrl, userMetadata: { created_by: 'tinkex train', recipe: config.recipe } };
  const run = await withPatientService(context, options, async (service, { isEmbedded }) => {
    if (format !== 'json')
      terminal.note(`Training ${config.model}${isEmbedded ? ' on the embedded engine' : ''}; the run is in ${config.logPath}`);
    await mkdir(logPath, { recursive: true });
    await writeRunOrigin(logPath, loaded);
    using progress = new TrainingProgress(terminal, format !== 'json');
    const onStep: LoopParts['onStep'] = (step, metrics) => progress.update(step, metrics);
    return await loop({ service, logPath, signal, onStep, onWarning: (message) => terminal.note(`Warning: ${message}`) });
  });
  await showRun(context, config, run);
}

/** Reads the data first: if it is wrong, nothing is sent. */
async function prepareLoop(config: ProjectConfig, files: readonly string[]): Promise<(parts: LoopParts) => Promise<TrainingRun>> {
  if (config.recipe === 'sft') return await prepareSft(config, files);
  return config.recipe === 'rl' ? await prepareRl(config, files) : await prepareDpo(config, files);
}

async function prepareSft(config: SftConfig, files: readonly string[]): Promise<(parts: LoopParts) => Promise<TrainingRun>> {
  const { conversationsFromJsonl, trainSupervised } = await import('@tinkex/cookbook');
  const { $schema: _schema, recipe: _recipe, baseUrl: _url, data: _data, testSize, ...options } = config;
  const split = await conversationsFromJsonl(files, { testSize }).load();
  return (parts) => trainSupervised({ ...options, ...parts, data: { load: async () => split } });
}

async function prepareDpo(config: DpoConfig, files: readonly string[]): Promise<(parts: LoopParts) => Promise<TrainingRun>> {
  const { comparisonsFromJsonl, trainDpo } = await import('@tinkex/cookbook');
  const { $schema: _schema, recipe: _recipe, baseUrl: _url, data: _data, ...options } = config;
  const data = (await Promise.all(files.map((file) => comparisonsFromJsonl(file)))).flat();
  return (parts) => trainDpo({ ...options, ...parts, data });
}

async function prepareRl(config: RlConfig, files: readonly string[]): Promise<(parts: LoopParts) => Promise<TrainingRun>> {
  const { isMathAnswerCorrect, problem, trainRl } = await import('@tinkex/cookbook');
  const { $schema: _schema, recipe: _recipe, baseUrl: _url, data: _data, grade = 'exact', formatCoefficient, ...options } = config;
  const graders = { exact: (text: string, expected: string) => text.trim() === expected.trim(), math: isMathAnswerCorrect };
  const grader: GradeAnswer = typeof grade === 'function' ? grade : graders[grade];
  const questions = await readQuestions(files);
  const dataset = questions.map(
    ({ question, answer }): EnvGroup => problem({ question, formatCoefficient, grade: (text) => grader(text, answer) }),
  );
  return (parts) => trainRl({ ...options, ...parts, dataset });
}

/** One question and its answer per line. All lines that are not are reported together. */
async function readQuestions(files: readonly string[]): Promise<{ readonly question: string; readonly answer: string }[]> {
  const questions: { question: string; answer: string }[] = [];
  const problems: string[] = [];
  for (const file of files) {
    for (const [index, line] of (await readFile(file, 'utf8')).split('\n').entries()) {
      if (line.trim() === '') continue;
      try {
        const { question, answer } = JSON.parse(line) as Record<string, unknown>;
        if (typeof question !== 'string' || typeof answer !== 'string') throw new Error('must have the texts "question" and "answer".');
        questions.push({ question, answer });
      } catch (error) {
        problems.push(`${file}:${index + 1}: ${(error as Error).message}`);
      }
    }
  }
  if (problems.length === 0) return questions;
  throw new CommandFailure(`${problems.length} lines are not questions. Nothing was trained`, {
    code: 'INVALID_DATA',
    exitCode: EXIT.invalidData,
    details: problems,
  });
}

async function showRun(context: CommandContext, { recipe, logPath }: ProjectConfig, run: TrainingRun): Promise<void> {
  const { terminal, format } = context;
  await showRecord(context, {
    title: `Trained with ${recipe}`,
    properties: [
      ['Run Folder', logPath],
      ['Steps', String(run.step)],
      ['Tokens', run.tokens.toLocaleString('en-US')],
      ['Stopped', run.stopReason.replaceAll('_', ' ')],
      ['Continue From', run.statePath ?? 'N/A'],
      ['Sample From', run.samplerPath ?? 'N/A'],
    ],
    json: {
      log_path: run.logPath,
      step: run.step,
      tokens: run.tokens,
      stop_reason: run.stopReason,
      state_path: run.statePath ?? null,
      sampler_path: run.samplerPath ?? null,
      metrics: run.metrics,
    },
  });
  if (run.stopReason === 'aborted') {
    terminal.note(`Stopped and saved. Continue with: tinkex resume ${logPath}`);
    context.endWith(EXIT.interrupted);
  } else if (format === 'table') terminal.note('Talk to it: tinkex chat');
}
