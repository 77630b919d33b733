import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a server's program, model and files are. */
export interface ServerPlaces {
  /** The virtual environment. */
  readonly environment: string;
  readonly model: string;
  /** An empty folder for what the server writes. */
  readonly state: string;
  /** What may survive between runs: compiled programs. */
  readonly cache: string;
  readonly port: number;
}

/** The command that starts a server. */
export interface StartCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** A Tinker server from PyPI that runs without a GPU. */
export interface EngineServer {
  readonly name: string;
  /** The package whose version the table names. */
  readonly packageName: string;
  /** The lists of requirements, installed one after the other; each is a list of arguments for `pip install`. */
  readonly installs: readonly (readonly string[])[];
  /** The newest version of the official Python SDK that works on this server. */
  readonly pythonSdk: string;
  readonly apiKey: string;
  /** The name of the model. */
  model(places: ServerPlaces): string;
  start(places: ServerPlaces): Promise<StartCommand>;
}

const TORCH = ['torch==2.13.0'];

/** SkyRL's server with JAX: real training and real sampling. It starts its engine through a command named `uv`, which a script stands in for. */
const SKYRL_TX: EngineServer = {
  name: 'skyrl-tx',
  packageName: 'skyrl-tx',
  installs: [TORCH, ['skyrl-tx[tinker]==0.3.0', 'jax', 'jaxlib', 'flax', 'optax']],
  // Later versions need client/config, which this server lacks; from 0.25 on they send protobuf, which it answers with 500.
  pythonSdk: '0.16.1',
  apiKey: 'tml-engines',
  model: ({ model }) => model,
  async start({ environment, model, state, cache, port }) {
    const bin = join(environment, 'bin');
    const stand = '#!/bin/sh\nwhile [ "$1" != "-m" ]; do shift; done\nexec "$(dirname "$0")/python" "$@"\n';
    await writeFile(join(bin, 'uv'), stand);
    await chmod(join(bin, 'uv'), 0o755);
    const options = {
      'base-model': model,
      backend: 'jax',
      host: '127.0.0.1',
      port: String(port),
      'checkpoints-base': join(state, 'checkpoints'),
      'database-url': `sqlite:///${join(state, 'tinker.db')}`,
    };
    return {
      program: join(bin, 'python'),
      args: ['-m', 'tx.tinker.api', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])],
      variables: {
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        JAX_PLATFORMS: 'cpu',
        JAX_COMPILATION_CACHE_DIR: cache,
        JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0',
        JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES: '-1',
      },
    };
  },
};

/** TuFT with its toy backend, which needs no vLLM: the protocol is real, the numbers are not. */
const TUFT: EngineServer = {
  name: 'TuFT (CPU mode)',
  packageName: 'tuft',
  installs: [
    TORCH,
    [
      'fastapi>=0.133,<0.137',
      'httpx',
      'numpy',
      'nvidia-ml-py',
      'omegaconf',
      'opentelemetry-api',
      'opentelemetry-exporter-otlp',
      'opentelemetry-instrumentation-fastapi',
      'opentelemetry-instrumentation-logging',
      'opentelemetry-sdk',
      'psutil',
      'tinker>=0.25,<0.26',
      'transformers>=5.5.3,<6',
      'typer',
      'uvicorn[standard]',
      'zstandard',
      'peft',
      'accelerate',
      'ray',
    ],
    ['--no-deps', 'tuft==0.2.2'],
  ],
  pythonSdk: '0.25.0',
  apiKey: 'tml-engines',
  model: ({ model }) => model,
  async start({ environment, model, state, port }) {
    const config = join(state, 'tuft.yaml');
    const settings = {
      checkpoint_dir: join(state, 'checkpoints'),
      authorized_users: { 'tml-engines': 'engines' },
      supported_models: [{ model_name: model, model_path: model, max_model_len: 512, max_lora_rank: 32, tensor_parallel_size: 1 }],
    };
    // JSON is YAML.
    await writeFile(config, JSON.stringify(settings, null, 1));
    return {
      program: join(environment, 'bin', 'python'),
      args: ['-m', 'tuft.cli', 'launch', '--host', '127.0.0.1', '--port', String(port), '--config', config],
      variables: { TUFT_CPU_TEST: '1', TUFT_HOME: state },
    };
  },
};

/** The servers that the command drives. */
export const ENGINE_SERVERS: readonly EngineServer[] = [SKYRL_TX, TUFT];
