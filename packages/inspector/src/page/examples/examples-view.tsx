import { signal } from '@preact/signals';
import type { ExampleView as Example, ExampleToken } from '../../api/activity-views.js';
import { currentRun, features, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { formatNumber } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { Segments } from '../parts/segments.js';
import { ViewHead } from '../parts/view-head.js';
import { type ColorBy, tokenColor } from './token-color.js';

const colorBy = signal<ColorBy>('weight');

const LEGENDS: Readonly<Record<ColorBy, string>> = {
  weight: 'Green tokens are trained on, red ones are trained away from, plain ones are only read.',
  logprob: 'The stronger the color, the more the token surprised the model.',
  difference: 'Green: the trainer finds the token likelier than the sampler did; red: less likely.',
};

/** What the model is trained on, token by token. */
export function ExamplesView() {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run?.has.examples ? String(run.revision) : undefined, () => source.examples(run?.id ?? ''));
  const examples = [...(value ?? [])].reverse();
  return (
    <div class="view">
      <ViewHead title="Examples">
        <Segments
          label="Color by"
          options={[
            ['weight', 'Weight'],
            ['logprob', 'Log-probability'],
            ['difference', 'Sampler to trainer'],
          ]}
          value={colorBy.value}
          onChange={(by) => {
            colorBy.value = by;
          }}
        />
      </ViewHead>
      {examples.length === 0 ? <NoExamples /> : <p class="muted">{LEGENDS[colorBy.value]}</p>}
      {examples.map((example, index) => (
        <ExampleCard key={`${example.atMs} ${index}`} example={example} />
      ))}
    </div>
  );
}

function NoExamples() {
  if (!features.value.hasContent) {
    return (
      <Empty title="Texts are off" code="await attachInspector({ includeContent: true });">
        Training data may be private, so the inspector shows none of it unless you ask for it.
      </Empty>
    );
  }
  return (
    <Empty title="No examples yet" code="inspector.addExamples(data, { tokenizer, output: await forward });">
      Pass the data of a training call to see what each token weighs and how likely the model finds it.
    </Empty>
  );
}

function ExampleCard({ example: { title, step, tokens } }: { readonly example: Example }) {
  const trained = tokens.filter(({ weight }) => weight !== 0).length;
  return (
    <article class="card">
      <div class="card-head">
        <h2>{title}</h2>
        {step !== undefined && <span class="badge">step {step}</span>}
        <span class="spacer" />
        <span class="muted small">
          {trained} of {tokens.length} tokens are trained on
        </span>
      </div>
      <div class="card-body tokens">
        {tokens.map((token, index) => (
          <span key={index} class="token" style={{ background: tokenColor(token, colorBy.value) }} title={describe(token)}>
            {token.text.replaceAll('\n', '↵\n')}
          </span>
        ))}
      </div>
    </article>
  );
}

function describe({ ids, weight, logprob, samplerLogprob }: ExampleToken): string {
  const lines = [`token ${ids.join(' ')}`, `weight ${formatNumber(weight)}`];
  if (logprob !== undefined) lines.push(`log-probability ${formatNumber(logprob)} (${(100 * Math.exp(logprob)).toFixed(1)} %)`);
  if (samplerLogprob !== undefined) lines.push(`of the sampler ${formatNumber(samplerLogprob)}`);
  return lines.join('\n');
}
