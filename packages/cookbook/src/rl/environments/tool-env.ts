import type { Message, Renderer, ToolCall } from '@tinkex/renderers';
import { messageText } from '../../data/message-text.js';
import { type RolloutStopReason, stopMetric } from '../rollouts/stop-reason.js';
import type { Env, EnvGroup, EnvLogs, EnvMetrics } from './env.js';
import { callTool, type EnvTool, type ToolResult } from './env-tool.js';
import { type MessageEnv, type MessageEnvOptions, type MessageStep, messageEnv } from './message-env.js';
import { retryMessage } from './parse-error-policy.js';

/** Whether the calls of one message run at the same time or one after the other. */
export type ToolExecution = 'parallel' | 'sequential';

/** What an episode was worth. */
export interface EpisodeGrade {
  readonly reward: number;
  readonly metrics?: EnvMetrics | undefined;
}

/** An agent with tools. */
export interface ToolEnvOptions extends MessageEnvOptions {
  /** How the conversation begins, without the declaration of the tools. */
  readonly messages: readonly Message[];
  readonly tools: readonly EnvTool[];
  /** Rewards the finished conversation. Called once, unless the episode ended by an error. */
  readonly reward: (history: readonly Message[]) => number | EpisodeGrade | Promise<number | EpisodeGrade>;
  /** Default 5. */
  readonly maxTurns?: number | undefined;
  /** The most calls of an episode. Calls beyond it do not run, and the episode ends. Default: no limit. */
  readonly maxToolCalls?: number | undefined;
  /** Default `parallel`. */
  readonly toolExecution?: ToolExecution | undefined;
  /** Whether a message of which no call can be read ends the episode. Default true. Without meaning when `parseErrors` is set. */
  readonly terminateOnParseError?: boolean | undefined;
  /** Whether `reward` sees how the conversation began, or only what followed. Default true. */
  readonly passAllMessagesToGrader?: boolean | undefined;
  /** Whether the tools are declared as the renderer does it. Set it to false when `messages` declare them. Default true. */
  readonly declareTools?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

const DEFAULT_MAX_TURNS = 5;
/** A turn or a whole message that cannot be read. */
const PARSE_ERROR_REWARD = -0.1;

/** A group of episodes in which the model calls tools until it answers. */
export function toolEnvGroup(options: ToolEnvOptions): EnvGroup {
  return {
    tags: options.tags,
    makeEnvs: ({ renderer, groupSize }) => Array.from({ length: groupSize }, () => toolEnv(options, renderer)),
  };
}

/** One episode of a {@link toolEnvGroup}. */
export function toolEnv(options: ToolEnvOptions, renderer: Renderer): Env {
  return messageEnv(new ToolMessageEnv(options, renderer), renderer, { failedParseReward: PARSE_ERROR_REWARD, ...options });
}

class ToolMessageEnv implements MessageEnv {
  readonly #options: ToolEnvOptions;
  readonly #history: Message[];
  readonly #promptLength: number;
  #turns = 0;
  #calls = 0;
  #parseErrorsInARow = 0;

  constructor(options: ToolEnvOptions, renderer: Renderer) {
    const { messages, tools, declareTools = true } = options;
    this.#options = options;
    this.#history = declareTools ? withTools(messages, tools, renderer) : [...messages];
    this.#promptLength = this.#history.length;
  }

  initialMessages(): readonly Message[] {
    return this.#history;
  }

  stepTruncated(message: Message): MessageStep {
    this.#history.push(message);
    this.#turns++;
    return { reward: 0, episodeDone: false, messages: this.#history };
  }

  async step(message: Message): Promise<MessageStep> {
    this.#history.push(message);
    this.#turns++;
    const { toolCalls = [], unparsedToolCalls = [] } = message;
    const errors = unparsedToolCalls.map(({ error }) => error).join('\n');
    if (toolCalls.length === 0 && unparsedToolCalls.length > 0) return this.#unreadable(errors);
    this.#parseErrorsInARow = 0;
    const text = messageText(message);
    const logs: Record<string, string> = text === '' ? {} : { assistant_content: text };
    const metrics = unparsedToolCalls.length > 0 ? { parse_error: 1 } : {};
    if (unparsedToolCalls.length > 0) logs.parse_errors = errors;
    if (toolCalls.length === 0) return this.#graded('completed', metrics, logs);
    const { shouldStop, isCapped } = await this.#runCalls(toolCalls, logs);
    const reason = this.#endAfterCalls(shouldStop, isCapped);
    if (reason !== undefined) return this.#graded(reason, { ...metrics, [reason]: 1 }, logs);
    return { reward: 0, episodeDone: false, messages: this.#history, metrics, logs };
  }

  async #runCalls(
    calls: readonly ToolCall[],
    logs: Record<string, string>,
  ): Promise<{ readonly shouldStop: boolean; readonly isCapped: boolean }> {
    const { tools, maxToolCalls = Number.POSITIVE_INFINITY, toolExecution = 'parallel' } = this.#options;
    const allowed = calls.slice(0, Math.max(0, maxToolCalls - this.#calls));
    const isCapped = allowed.length < calls.length;
    this.#calls += allowed.length;
    if (isCapped) logs.tool_calls_dropped = `${calls.length - allowed.length} tool call(s) dropped: max_tool_calls=${maxToolCalls} reached`;
    for (const [index, call] of allowed.entries()) logs[`tool_call_${index}`] = `${call.function.name}(${call.function.arguments})`;
    const results: ToolResult[] = [];
    if (toolExecution === 'parallel') results.push(...(await Promise.all(allowed.map((call) => callTool(tools, call)))));
    else for (const call of allowed) results.push(await callTool(tools, call));
    for (const [index, { message }] of results.entries()) {
      logs[`tool_result_${index}`] = messageText(message);
      this.#history.push(message);
    }
    return { shouldStop: results.some((result) => result.shouldStop), isCapped };
  }

  #endAfterCalls(shouldStop: boolean, isCapped: boolean): RolloutStopReason | undefined {
    if (shouldStop) return 'tool_stopped';
    if (isCapped) return 'max_tool_calls';
    return this.#turns >= (this.#options.maxTurns ?? DEFAULT_MAX_TURNS) ? 'max_turns' : undefined;
  }

  async #graded(reason: RolloutStopReason, metrics: EnvMetrics, logs: EnvLogs): Promise<MessageStep> {
    const { reward, passAllMessagesToGrader = true } = this.#options;
    const seen = passAllMessagesToGrader ? this.#history : this.#history.slice(this.#promptLength);
    const grade = await reward([...seen]);
    const { reward: value, metrics: graded = {} } = typeof grade === 'number' ? { reward: grade } : grade;
    const all = { ...metrics, ...stopMetric(reason), ...graded };
    return { reward: value, episodeDone: true, messages: this.#history, metrics: all, logs };
  }

  #unreadable(details: string): MessageStep {
    const { parseErrors, terminateOnParseError = true } = this.#options;
    const messages = this.#history;
    if (parseErrors === undefined) {
      const metrics = { parse_error: 1, ...(terminateOnParseError && stopMetric('parse_error')) };
      return { reward: PARSE_ERROR_REWARD, episodeDone: terminateOnParseError, messages, metrics, logs: { parse_errors: details } };
    }
    const { maxConsecutive, penaltyPerError = 0, terminalReward = 0, maskErrorTurns = false } = parseErrors;
    const metrics = { parse_error: 1, ...(maskErrorTurns && { parse_error_masked: 1 }) };
    const logs = { parse_errors: details, parse_failure_kind: 'content' };
    const count = ++this.#parseErrorsInARow;
    if (count > maxConsecutive) {
      return { reward: terminalReward, episodeDone: true, messages, metrics: { ...metrics, ...stopMetric('parse_error') }, logs };
    }
    this.#history.push({ role: 'user', content: retryMessage(parseErrors, details) });
    const note = `injected corrective message (consecutive parse error ${count}, budget ${maxConsecutive})`;
    return { reward: -penaltyPerError, episodeDone: false, messages, metrics, logs: { ...logs, parse_error_retry: note } };
  }
}

function withTools(messages: readonly Message[], tools: readonly EnvTool[], renderer: Renderer): Message[] {
  const specs = tools.map(({ spec }) => spec);
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [...renderer.createConversationPrefixWithTools(specs), ...messages];
  return [...renderer.createConversationPrefixWithTools(specs, messageText(first)), ...rest];
}
