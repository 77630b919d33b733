import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SamplingClient, ServiceClient } from '@tinkex/clients';
import type { Renderer } from '@tinkex/renderers';
import { CommandFailure } from '../output/command-failure.js';
import { loadConfig } from './load-config.js';

/** A model by the name that a user gives: a base model, a `tinker://` path, or a run folder. */
export interface ModelReference {
  readonly label: string;
  readonly baseModel?: string | undefined;
  readonly modelPath?: string | undefined;
  readonly rendererName?: string | undefined;
}

/** A model to talk to. */
export interface OpenModel {
  readonly label: string;
  readonly sampler: SamplingClient;
  readonly renderer: Renderer;
}

/** Finds out what a name means. Without a name it is the run of the configuration. */
export async function findModel(name: string | undefined): Promise<ModelReference> {
  if (name === undefined) return await modelOfProject();
  if (name.startsWith('tinker://')) return { label: name, modelPath: name };
  if (existsSync(join(name, 'checkpoints.jsonl'))) return await modelOfRun(resolve(name), name);
  return { label: name, baseModel: name };
}

async function modelOfProject(): Promise<ModelReference> {
  const loaded = await loadConfig(undefined);
  if (loaded !== undefined) return await modelOfRun(resolve(loaded.folder, loaded.config.logPath), loaded.config.logPath);
  throw new CommandFailure('There is no configuration here, so name a model', {
    code: 'NO_MODEL',
    cure: 'Give a base model (`tinkex model list`), a tinker:// path or a run folder. Or start with `tinkex init`.',
  });
}

async function modelOfRun(folder: string, label: string): Promise<ModelReference> {
  const { lastCheckpoint, readRun } = await import('@tinkex/telemetry/runs');
  const { checkpoints, config } = await readRun(folder);
  const path = lastCheckpoint(checkpoints, 'samplerPath')?.samplerPath;
  if (path === undefined) {
    throw new CommandFailure(`${label} has no checkpoint to sample from yet`, {
      code: 'NO_CHECKPOINT',
      cure: 'Train first: `tinkex train sft`.',
    });
  }
  const rendererName = typeof config?.['renderer_name'] === 'string' ? config['renderer_name'] : undefined;
  return { label, modelPath: path, rendererName };
}

/** Opens a model: its sampler, and the renderer it was trained with. */
export async function openModel(service: ServiceClient, reference: ModelReference, signal: AbortSignal): Promise<OpenModel> {
  const { getRecommendedRendererName, getRenderer, toRendererTokenizer } = await import('@tinkex/renderers');
  const { label, baseModel, modelPath } = reference;
  const sampler = await service.createSamplingClient({ baseModel, modelPath, retry: true, signal });
  const tokenizer = toRendererTokenizer(await sampler.getTokenizer({ signal }));
  const name = reference.rendererName ?? getRecommendedRendererName(baseModel ?? (await sampler.getBaseModel({ signal })));
  return { label, sampler, renderer: getRenderer(name, tokenizer) };
}
