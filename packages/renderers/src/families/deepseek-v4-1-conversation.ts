import { invalidMessages } from '../core/masks.js';
import { dumpJson, isDict } from '../core/python-json.js';
import { tryLoadJson } from '../core/python-json-reader.js';
import { singleText, textOf } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import { DEEPSEEK_V4_1 } from './tool-preambles.js';

/** What every declaration of tools begins with: several hundred characters that no other system message has. */
const TOOLS_OPENING = DEEPSEEK_V4_1('\0').split('\0')[0] as string;

/** Whether {@link prepareDeepseekV41} found a declaration of tools. */
export function declaresTools([first]: readonly Message[]): boolean {
  return first?.role === 'system' && textOf(first.content).includes(TOOLS_OPENING);
}

/** Whether a message belongs to a turn of the user: tools answer in the user's name. */
export function isUserSide(message: Message | undefined): boolean {
  return message?.role === 'user' || message?.role === 'tool';
}

/**
 * Tool declarations move into the system message; users and tools that speak in a row speak as one user, in the first message of the run. Every
 * message keeps its index.
 */
export function prepareDeepseekV41(messages: readonly Message[]): readonly Message[] {
  const wrong = messages.findIndex(({ role, content }) => role !== 'assistant' && singleText(content) === undefined);
  if (wrong >= 0) throw invalidMessages(`messages[${wrong}].content`, 'must be text or a single text part for this template.');
  return mergeUserTurns(placeTools(messages));
}

function placeTools(messages: readonly Message[]): Message[] {
  const late = messages.findIndex(({ role }, index) => role === 'tool_declare' && index > (messages[0]?.role === 'system' ? 1 : 0));
  if (late >= 0)
    throw invalidMessages(`messages[${late}].role`, 'is tool_declare, which must be first or follow the first system message.');
  const [first, second, ...rest] = messages;
  if (first?.role === 'tool_declare') return [{ ...first, role: 'system', content: `\n\n${toolsText(first)}` }, ...messages.slice(1)];
  if (first?.role !== 'system' || second?.role !== 'tool_declare') return [...messages];
  return [{ ...first, content: `${textOf(first.content)}\n\n${toolsText(second)}` }, second, ...rest];
}

/** The declaration, from the JSON list that `createConversationPrefixWithTools` makes. */
function toolsText({ content }: Message): string {
  const tools = tryLoadJson(textOf(content));
  if (!Array.isArray(tools)) throw invalidMessages('messages', 'have a tool_declare message that is not a JSON list of tools.');
  const schemas = tools.map((tool) => dumpJson((isDict(tool) ? tool.get('function') : undefined) ?? tool, { raw: true }));
  return DEEPSEEK_V4_1(schemas.join('\n'));
}

function mergeUserTurns(messages: readonly Message[]): Message[] {
  const result: Message[] = [];
  let callIds: readonly (string | undefined)[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index] as Message;
    if (message.toolCalls !== undefined && message.toolCalls.length > 0) callIds = message.toolCalls.map(({ id }) => id);
    if (!isUserSide(message)) {
      result.push(message);
      continue;
    }
    const end = messages.findIndex((other, place) => place > index && !isUserSide(other));
    const run = messages.slice(index, end < 0 ? messages.length : end);
    result.push({ ...message, content: inCallOrder(run, callIds).map(writeTurn).join('\n\n') }, ...run.slice(1));
    index += run.length - 1;
  }
  return result;
}

function writeTurn({ role, content }: Message): string {
  return role === 'tool' ? `<tool_result>${textOf(content)}</tool_result>` : textOf(content);
}

/** The answers of tools in the order of the calls. User messages keep their places. */
function inCallOrder(run: readonly Message[], callIds: readonly (string | undefined)[]): Message[] {
  const order = ({ toolCallId }: Message) => Math.max(0, toolCallId === undefined ? 0 : callIds.indexOf(toolCallId));
  const results = run.filter(({ role }) => role === 'tool').sort((left, right) => order(left) - order(right));
  return run.map((message) => (message.role === 'tool' ? (results.shift() as Message) : message));
}
