import { envTool, type ParseErrorPolicy, type ToolEnvOptions, toolEnv } from '@tinkex/cookbook';
import { decodeMessage, encodeMessage, type Message, type Renderer, type Termination } from '@tinkex/renderers';
import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readCookbookVectors } from '../../../vectors/read.js';

const TOOLS = [
  envTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.int().describe('first number'), b: z.int().default(2).describe('second number') }),
    run: ({ a, b }) => String(a + b),
  }),
  envTool({
    name: 'finish',
    description: 'Ends the episode.',
    parameters: z.object({ answer: z.string() }),
    run: () => ({ content: 'ok', shouldStop: true }),
  }),
  envTool({
    name: 'broken',
    description: 'Always fails.',
    parameters: z.object({ x: z.int() }),
    run: () => {
      throw new Error('nope');
    },
  }),
];

interface JsonStep {
  readonly reward: number;
  readonly done: boolean;
  readonly metrics: Record<string, number>;
  readonly logs: Record<string, string>;
  readonly nextObLength: number;
}

interface Case {
  readonly name: string;
  readonly input: {
    readonly script: {
      readonly message: Record<string, unknown>;
      readonly termination: Termination;
      readonly samplerStopReason: 'stop' | 'length';
    }[];
    readonly options: {
      readonly max_turns?: number;
      readonly max_tool_calls?: number;
      readonly max_trajectory_tokens?: number;
      readonly max_generation_tokens?: number;
      readonly terminate_on_parse_error?: boolean;
      readonly terminate_on_length?: boolean;
      readonly parseErrorPolicy?: Record<string, never>;
      readonly rolloutConfig?: {
        readonly toolExecution: 'sequential';
        readonly parseErrors: Record<string, never>;
        readonly limits: Record<string, number>;
        readonly termination: { readonly pass_all_messages_to_grader: boolean };
      };
    };
  };
  readonly expected: {
    readonly ok: {
      readonly steps: JsonStep[];
      readonly history: unknown[];
      readonly graderSaw: unknown[][];
      readonly overflow?: { readonly reward: number; readonly metrics: Record<string, number> };
    };
  };
}

/** What a tool answers to bad arguments is worded by the language and its libraries. */
const OWN_WORDS = /(Parameter validation failed|Failed to parse tool arguments):.*$/s;
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, entry: unknown) =>
    typeof entry === 'string' ? entry.replace(OWN_WORDS, '$1') : entry === 0 ? 0 : entry,
  );
const toMessage = (json: Record<string, unknown>): Message => {
  const calls = (json.tool_calls as Record<string, unknown>[] | undefined)?.map((call) => ({ type: 'function', ...call }));
  return decodeMessage({ ...json, ...(calls && { tool_calls: calls }) } as never);
};
const withoutTypes = (message: Message): unknown => {
  const { tool_calls: calls, ...rest } = encodeMessage(message) as unknown as { tool_calls?: { type?: string }[] };
  return { ...rest, ...(calls && { tool_calls: calls.map(({ type: _, ...call }) => call) }) };
};
const toPolicy = (json: Record<string, never> | undefined): ParseErrorPolicy | undefined =>
  json && {
    maxConsecutive: json.max_consecutive as unknown as number,
    retryMessageTemplate: json.retry_message_template,
    penaltyPerError: json.penalty_per_error,
    terminalReward: json.terminal_reward,
    maskErrorTurns: json.mask_error_turns,
  };

describe('episodes with tools', () => {
  it.each(readCookbookVectors<Case>('agent-tool-env'))('$name', async ({ input: { script, options }, expected: { ok } }) => {
    let rendered: readonly Message[] = [];
    let turn = 0;
    // One token per character of the conversation.
    const renderer = {
      buildGenerationPrompt(messages: readonly Message[]) {
        rendered = messages;
        return ModelInput.fromInts(messages.flatMap(({ content }) => Array.from(content as string, () => 1)));
      },
      getStopSequences: () => [],
      parseResponse: () => ({ message: toMessage(script[turn]?.message ?? {}), termination: script[turn]?.termination as Termination }),
    } as unknown as Renderer;
    const graderSaw: unknown[][] = [];
    const { rolloutConfig } = options;
    const settings: ToolEnvOptions = {
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Q' },
      ],
      declareTools: false,
      tools: TOOLS,
      reward(history) {
        graderSaw.push(history.map(withoutTypes));
        return { reward: 1, metrics: { graded: 1 } };
      },
      maxTurns: options.max_turns ?? rolloutConfig?.limits.max_turns,
      maxToolCalls: options.max_tool_calls ?? rolloutConfig?.limits.max_tool_calls,
      maxTrajectoryTokens: options.max_trajectory_tokens ?? rolloutConfig?.limits.max_trajectory_tokens,
      maxGenerationTokens: options.max_generation_tokens,
      terminateOnParseError: options.terminate_on_parse_error,
      terminateOnLength: options.terminate_on_length,
      toolExecution: rolloutConfig?.toolExecution,
      parseErrors: toPolicy(options.parseErrorPolicy ?? rolloutConfig?.parseErrors),
      passAllMessagesToGrader: rolloutConfig?.termination.pass_all_messages_to_grader,
    };
    const env = toolEnv(settings, renderer);
    const initial = await env.initialObservation();
    if (ok.overflow !== undefined) {
      expect(initial).toEqual({ overflow: ok.overflow });
      return;
    }
    const steps: JsonStep[] = [];
    for (; turn < script.length; turn++) {
      const stopReason = script[turn]?.samplerStopReason ?? 'stop';
      const {
        reward,
        episodeDone,
        next,
        metrics = {},
        logs = {},
      } = await env.step({ tokens: new Int32Array(), logprobs: new Float32Array(), stopReason });
      steps.push({ reward, done: episodeDone, metrics, logs: logs as Record<string, string>, nextObLength: next?.prompt.length ?? 0 });
    }
    const withLengths = (step: JsonStep) => (JSON.stringify(ok).match(OWN_WORDS) ? { ...step, nextObLength: 0 } : step);
    expect(plain(steps.map(withLengths))).toEqual(plain(ok.steps.map(withLengths)));
    expect(plain(rendered.map(withoutTypes))).toEqual(plain(ok.history));
    expect(plain(graderSaw)).toEqual(plain(ok.graderSaw));
  });

  interface SpecCase {
    readonly input: string;
    readonly expected: { readonly name: string; readonly description: string; readonly parameters: Record<string, unknown> };
  }

  it.each(readCookbookVectors<SpecCase>('tool-specs'))('tell the model about $input', ({ input, expected }) => {
    const spec = TOOLS.find(({ spec: { name } }) => name === input)?.spec;
    // Titles are pydantic's; a default is not required by the model either way.
    const untitled = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (key, entry: unknown) =>
        ['title', 'minimum', 'maximum', 'additionalProperties'].includes(key) ? undefined : entry,
      );
    const { required: _, ...parameters } = untitled(spec?.parameters) as Record<string, unknown>;
    const { required: __, ...wanted } = untitled(expected.parameters) as Record<string, unknown>;
    expect([spec?.name, spec?.description, parameters]).toEqual([expected.name, expected.description, wanted]);
  });
});
