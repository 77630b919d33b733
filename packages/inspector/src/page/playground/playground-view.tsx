import { useEffect, useRef, useState } from 'preact/hooks';
import { currentRun, features, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { Empty } from '../parts/empty.js';
import { Segments } from '../parts/segments.js';
import { ViewHead } from '../parts/view-head.js';
import { AnswerText } from './answer-text.js';
import { type Answer, ask, chosenModels, conversation, settings } from './conversation.js';

/** Talk to a checkpoint, or to two side by side. */
export function PlaygroundView() {
  const offered = useOfferedModels();
  if (!features.value.canChat) {
    return (
      <div class="view">
        <ViewHead title="Playground" />
        <Empty title="Nobody to talk to" code="attachInspector({ chat: openAiChat(createGateway({ models: serviceModels(service) })) });">
          The inspector samples from no model itself. Pass it a chat callback, and every checkpoint of your runs can answer here.
        </Empty>
      </div>
    );
  }
  return (
    <div class="view">
      <ViewHead title="Playground">
        <How />
      </ViewHead>
      <Models offered={offered} />
      <Conversation />
      <Question />
    </div>
  );
}

/** The checkpoints of the run, newest first, then the models that the program names. */
function useOfferedModels(): readonly string[] {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run === undefined ? undefined : String(run.revision), () => source.detail(run?.id ?? ''));
  const paths = [...(value?.checkpoints ?? [])].reverse().flatMap(({ samplerPath }) => samplerPath ?? []);
  const offered = [...new Set([...chosenModels.value, ...paths, ...features.value.models])];
  const [newest] = offered;
  // Nobody has chosen yet: the newest checkpoint of the run is what people want to hear.
  useEffect(() => {
    if (value !== undefined && chosenModels.value.length === 0 && newest !== undefined) chosenModels.value = [newest];
  }, [value, newest]);
  return offered;
}

function How() {
  const { mode, samples, maxTokens, temperature } = settings.value;
  const change = (fields: Partial<typeof settings.value>): void => {
    settings.value = { ...settings.value, ...fields };
  };
  return (
    <>
      <Segments
        label="Mode"
        options={[
          ['chat', 'Chat'],
          ['complete', 'Continue a text'],
        ]}
        value={mode}
        onChange={(wanted) => {
          change({ mode: wanted });
          conversation.value = [];
        }}
      />
      <NumberField label="Samples" value={samples} min={1} max={16} step={1} onChange={(value) => change({ samples: value })} />
      <NumberField label="Tokens" value={maxTokens} min={1} max={4096} step={1} onChange={(value) => change({ maxTokens: value })} />
      <NumberField
        label="Temperature"
        value={temperature}
        min={0}
        max={2}
        step={0.1}
        onChange={(value) => change({ temperature: value })}
      />
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly onChange: (value: number) => void;
}

function NumberField({ label, value, min, max, step, onChange }: NumberFieldProps) {
  return (
    <label class="control">
      {label}
      <input
        class="field number-field"
        type="number"
        min={min}
        max={max}
        step={step}
        value={value}
        onChange={({ currentTarget }) => {
          const wanted = Number(currentTarget.value);
          if (Number.isFinite(wanted)) onChange(Math.min(max, Math.max(min, wanted)));
        }}
      />
    </label>
  );
}

function Models({ offered }: { readonly offered: readonly string[] }) {
  const chosen = chosenModels.value;
  const set = (index: number, model: string): void => {
    chosenModels.value = chosen.map((one, at) => (at === index ? model : one));
    conversation.value = [];
  };
  return (
    <div class="models">
      {chosen.map((model, index) => (
        <select
          key={index}
          aria-label={index === 0 ? 'Model' : 'Second model'}
          value={model}
          onChange={({ currentTarget }) => set(index, currentTarget.value)}
        >
          {offered.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      ))}
      {chosen.length < 2 ? (
        <button
          type="button"
          class="button"
          disabled={offered.length < 2}
          onClick={() => {
            chosenModels.value = [...chosen, offered.find((one) => !chosen.includes(one)) ?? ''];
          }}
        >
          Compare with another
        </button>
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => {
            chosenModels.value = chosen.slice(0, 1);
          }}
        >
          One model
        </button>
      )}
    </div>
  );
}

function Conversation() {
  if (conversation.value.length === 0) {
    return (
      <Empty title={settings.value.mode === 'chat' ? 'Say something' : 'Begin a sentence'}>
        Every token of the answer shows how likely it was, and what else could have stood in its place.
      </Empty>
    );
  }
  return (
    <ol class="conversation" aria-live="polite">
      {conversation.value.map(({ question, answers, isOpen }, index) => (
        <li key={index}>
          <div class="message user">{question}</div>
          {isOpen && <div class="message assistant muted">…</div>}
          <div class={answers.length > 1 ? 'answers two' : 'answers'}>
            {answers.map((answer) => (
              <AnswerCard key={answer.model} answer={answer} isNamed={answers.length > 1} />
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

function AnswerCard({ answer: { model, samples, error }, isNamed }: { readonly answer: Answer; readonly isNamed: boolean }) {
  return (
    <div class="card answer">
      {isNamed && <div class="mono muted">{model}</div>}
      {error !== undefined && <div class="banner bad">{error}</div>}
      {samples.map((sample, index) => (
        <AnswerText key={index} sample={sample} />
      ))}
    </div>
  );
}

function Question() {
  const [text, setText] = useState('');
  const asking = useRef<AbortController | undefined>(undefined);
  const isBusy = conversation.value.some(({ isOpen }) => isOpen);
  async function send(): Promise<void> {
    const question = text;
    if (question.trim() === '' || isBusy) return;
    setText('');
    asking.current = new AbortController();
    await ask(question, asking.current.signal);
  }
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        rows={2}
        aria-label={settings.value.mode === 'chat' ? 'Your message' : 'The beginning of a text'}
        placeholder={settings.value.mode === 'chat' ? 'Your message' : 'The beginning of a text'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          void send();
        }}
      />
      {isBusy ? (
        <button type="button" class="button" onClick={() => asking.current?.abort()}>
          Stop
        </button>
      ) : (
        <button type="submit" class="button primary">
          Send
        </button>
      )}
    </form>
  );
}
