import type { ServiceClient } from '@tinkex/clients';
import { withService } from '../config/connect.js';
import { openRenderer, type RendererFlags } from '../config/open-renderer.js';
import { EXIT } from '../output/exit-codes.js';
import { explainFailure } from '../output/explain-failure.js';
import { showJson } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** What one check has found. */
interface Verdict {
  readonly check: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly cure?: string | undefined;
}

const OLDEST_NODE = [20, 19] as const;
/** Signed addresses and tokens live for minutes: a clock that is off by more makes them expire early. */
const MAX_SKEW_MS = 60_000;

/** `tinkex doctor` */
export const registerDoctor: RegisterCommand = (parent, process) => {
  parent
    .command('doctor')
    .description(
      'Check everything that a run needs: Node, key, server, clock, model, tokenizer and renderer. Ends with 1 if something is wrong.',
    )
    .option('--model <name>', 'also check this base model, its tokenizer and its renderer')
    .option('--renderer <name>', 'instead of the one that the model was trained with')
    .option('--tokenizer <folder>', 'a folder with tokenizer.json')
    .addHelpText('after', examples(['doctor', 'the connection'], ['doctor --model Qwen/Qwen3-8B', 'and what a model needs']))
    .action(
      runWith<Partial<RendererFlags>>(process, async (context, options) => {
        const verdicts = [
          nodeVerdict(globalThis.process.versions.node),
          keyVerdict(context),
          ...(await serverVerdicts(context, options.model)),
        ];
        if (options.model !== undefined) verdicts.push(await rendererVerdict(context, { ...options, model: options.model }));
        report(context, verdicts);
      }),
    );
};

function nodeVerdict(version: string): Verdict {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOk = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return { check: 'Node', isOk, detail: version, cure: `Install Node ${OLDEST_NODE.join('.')} or newer.` };
}

function keyVerdict({ environment, globals }: CommandContext): Verdict {
  const { apiKey, credentialCommand, baseUrl } = environment;
  if (globals.local === true) return { check: 'Key', isOk: true, detail: 'the embedded engine needs none' };
  if (apiKey === undefined) {
    const detail =
      credentialCommand === undefined
        ? 'TINKER_API_KEY is not set; a stored key or the embedded engine is used'
        : 'from TINKER_CREDENTIAL_CMD';
    return { check: 'Key', isOk: true, detail };
  }
  const isHosted = (globals.baseUrl ?? baseUrl) === undefined;
  const isOk = !isHosted || apiKey.startsWith('tml-') || apiKey.startsWith('eyJ');
  return {
    check: 'Key',
    isOk,
    detail: isOk ? 'TINKER_API_KEY' : 'TINKER_API_KEY does not look like a key',
    cure: 'Keys of the hosted service start with tml-.',
  };
}

async function serverVerdicts(context: CommandContext, model: string | undefined): Promise<Verdict[]> {
  try {
    return await withService(context, async (service) => {
      const { supportedModels } = await service.getServerCapabilities({ signal: context.signal });
      const names = supportedModels.flatMap(({ modelName }) => modelName ?? []);
      const verdicts: Verdict[] = [
        { check: 'Server', isOk: true, detail: `${service.baseUrl} offers ${names.length} models` },
        await clockVerdict(context, service),
      ];
      if (model === undefined) return verdicts;
      const isOffered = names.includes(model);
      const cure = `Choose one of: ${names.join(', ')}`;
      return [...verdicts, { check: 'Model', isOk: isOffered, detail: isOffered ? model : `the server does not offer ${model}`, cure }];
    });
  } catch (error) {
    const { message, details, cure } = await explainFailure(error);
    return [
      { check: 'Server', isOk: false, detail: [message, ...details].join(': '), cure: cure ?? 'Check TINKER_BASE_URL and your proxy.' },
    ];
  }
}

/** Compares this clock with the date of an answer. */
async function clockVerdict({ now, signal }: CommandContext, { baseUrl }: ServiceClient): Promise<Verdict> {
  const { HttpClient } = await import('@tinkex/http');
  await using client = new HttpClient({ baseUrl, maxRetries: 0 });
  const { headers } = await client
    .request({ method: 'GET', path: '/api/v1/healthz', acceptStatus: [401, 403, 404], parse: () => undefined, signal })
    .withMetadata();
  const serverMs = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(serverMs)) return { check: 'Clock', isOk: true, detail: 'the server does not say the time' };
  const skewMs = Math.abs(now().getTime() - serverMs);
  const seconds = Math.round(skewMs / 1000);
  return {
    check: 'Clock',
    isOk: skewMs <= MAX_SKEW_MS,
    detail: `${seconds} s from the server's`,
    cure: 'Set the clock of this machine, for example with NTP.',
  };
}

/** Renders a conversation and reads it back: that takes the tokenizer and the renderer. */
async function rendererVerdict(context: CommandContext, flags: RendererFlags): Promise<Verdict> {
  const check = 'Tokenizer and renderer';
  try {
    const renderer = await openRenderer(context, flags);
    const text = 'The quick brown fox; naïve café, 日本.';
    const { modelInput } = renderer.buildSupervisedExample([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: text },
    ]);
    const isOk = renderer.tokenizer.decode(modelInput.toInts()).includes(text);
    const cure = 'The tokenizer does not fit the model: pass --tokenizer FOLDER with its own tokenizer.json.';
    return { check, isOk, detail: isOk ? renderer.name : 'text does not survive encoding and decoding', cure };
  } catch (error) {
    const { message, details, cure } = await explainFailure(error);
    return { check, isOk: false, detail: [message, ...details].join(': '), cure: cure ?? 'Pass --tokenizer FOLDER, or check the network.' };
  }
}

function report(context: CommandContext, verdicts: readonly Verdict[]): void {
  const { terminal, format } = context;
  const isOk = verdicts.every((verdict) => verdict.isOk);
  if (!isOk) context.endWith(EXIT.failure);
  if (format === 'json') {
    showJson(context, {
      ok: isOk,
      checks: verdicts.map(({ check, isOk: ok, detail, cure }) => ({ check, ok, detail, cure: ok ? null : (cure ?? null) })),
    });
    return;
  }
  const { style } = terminal;
  for (const { check, isOk: ok, detail, cure } of verdicts) {
    terminal.print(`${ok ? style.green('ok  ') : style.red('FAIL')}  ${check}: ${detail}`);
    if (!ok && cure !== undefined) terminal.print(`      ${style.dim(cure)}`);
  }
}
