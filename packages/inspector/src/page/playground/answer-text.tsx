import type { ChatSample, ChatToken } from '../../api/chat.js';

/** An answer, token by token: the paler, the surer. Each token shows what else was likely. */
export function AnswerText({ sample: { text, tokens, finishReason } }: { readonly sample: ChatSample }) {
  return (
    <div class="answer-text">
      {tokens === undefined || tokens.length === 0
        ? text
        : tokens.map((token, index) => (
            <span key={index} class="token" tabIndex={index === 0 ? 0 : -1} style={{ background: colorOf(token) }} title={describe(token)}>
              {token.text.replaceAll('\n', '↵\n')}
            </span>
          ))}
      {finishReason === 'length' && <span class="muted"> …</span>}
    </div>
  );
}

function colorOf({ logprob }: ChatToken): string {
  const surprise = Math.min(1, -logprob / 4);
  return surprise < 0.03 ? '' : `rgb(var(--warm) / ${(surprise * 0.5).toFixed(2)})`;
}

function describe({ logprob, top = [] }: ChatToken): string {
  const others = top.map(({ text, logprob: other }) => `${percent(other)}  ${JSON.stringify(text)}`);
  return [`probability ${percent(logprob)}`, ...others].join('\n');
}

function percent(logprob: number): string {
  return `${(100 * Math.exp(logprob)).toFixed(1)} %`;
}
