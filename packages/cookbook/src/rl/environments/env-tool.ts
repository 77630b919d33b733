import { type JsonSchemaSource, type Message, type ToolCall, type ToolSpec, tool } from '@tinkex/renderers';

/** A schema of arguments that checks them, such as a zod 4 schema. */
export interface ArgumentsSchema<Arguments> extends JsonSchemaSource {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: Arguments } | { readonly success: false; readonly error: { readonly message: string } };
}

/** What a tool answers: text, or text and whether the episode ends. */
export type ToolAnswer = string | { readonly content: string; readonly shouldStop?: boolean | undefined };

/** What {@link envTool} takes. */
export interface EnvToolOptions<Arguments> {
  readonly name: string;
  readonly description?: string | undefined;
  /** The arguments, as a zod schema. */
  readonly parameters: ArgumentsSchema<Arguments>;
  /** Called with arguments that the schema accepted. The model receives what it throws. */
  readonly run: (args: Arguments) => ToolAnswer | Promise<ToolAnswer>;
}

/** A tool that a model may call in an episode. */
export interface EnvTool {
  /** How the model knows it. */
  readonly spec: ToolSpec;
  /** Answers a call. Wrong arguments and failures are answers too; it never rejects. */
  call(call: ToolCall): Promise<ToolResult>;
}

/** The answer to a call. */
export interface ToolResult {
  readonly message: Message;
  readonly shouldStop: boolean;
}

/**
 * A tool with checked arguments.
 *
 * @example
 * envTool({ name: 'add', parameters: z.object({ a: z.int(), b: z.int() }), run: ({ a, b }) => String(a + b) });
 */
export function envTool<Arguments>({ name, description, parameters, run }: EnvToolOptions<Arguments>): EnvTool {
  return {
    spec: tool({ name, description, parameters }),
    async call(call) {
      let given: unknown;
      try {
        given = JSON.parse(call.function.arguments);
      } catch (error) {
        return failedCall(call, `Failed to parse tool arguments: ${(error as Error).message}`);
      }
      const parsed = parameters.safeParse(given);
      if (!parsed.success) return failedCall(call, `Parameter validation failed: ${parsed.error.message}`);
      try {
        const answer = await run(parsed.data);
        const { content, shouldStop = false } = typeof answer === 'string' ? { content: answer } : answer;
        return { message: answerTo(call, content), shouldStop };
      } catch (error) {
        return failedCall(call, `Tool execution failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}

/** Answers a call by the tool of its name. */
export async function callTool(tools: readonly EnvTool[], call: ToolCall): Promise<ToolResult> {
  const named = tools.find(({ spec }) => spec.name === call.function.name);
  return named === undefined ? failedCall(call, `Tool '${call.function.name}' not found`) : named.call(call);
}

function failedCall(call: ToolCall, error: string): ToolResult {
  return { message: answerTo(call, `{"error": ${JSON.stringify(error)}}`), shouldStop: false };
}

function answerTo({ id, function: { name } }: ToolCall, content: string): Message {
  return { role: 'tool', content, toolCallId: id ?? '', name };
}
