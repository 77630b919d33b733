import { dumpJson, isDict, type PythonDict, type PythonValue, pythonStr, toPython } from '../core/python-json.js';
import { isBlank, strip } from '../core/python-text.js';
import type { Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { writeAsPython } from './qwen3-5.js';
import { QWEN3_5 } from './tool-preambles.js';

/** The system prompt, then the tools as XML. */
export function declareNemotronTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const block = tools.length === 0 ? '' : QWEN3_5(tools.map((tool) => declareTool(toPython(tool) as PythonDict).join('\n')).join('\n'));
  return [{ role: 'system', content: [systemPrompt, block].filter((text) => text !== '').join('\n\n') }];
}

function declareTool(tool: PythonDict): string[] {
  const parameters = tool.get('parameters');
  return [
    '<function>',
    `<name>${pythonStr(tool.get('name') ?? '')}</name>`,
    ...describe(tool),
    '<parameters>',
    ...(parameters !== undefined && isDict(parameters) ? declareParameters(parameters) : []),
    '</parameters>',
    ...writeOthers(tool, ['type', 'name', 'description', 'parameters']),
    '</function>',
  ];
}

function declareParameters(schema: PythonDict): string[] {
  const properties = schema.get('properties');
  const required = schema.get('required');
  return [
    ...(properties !== undefined && isDict(properties)
      ? [...properties].flatMap(([name, property]) => declareParameter(name, property))
      : []),
    ...writeOthers(schema, ['type', 'properties', 'required']),
    ...(required === undefined ? [] : [`<required>${dumpJson(required)}</required>`]),
  ];
}

function declareParameter(name: string, property: PythonValue): string[] {
  const schema: PythonDict = isDict(property) ? property : new Map();
  const [type, values] = [schema.get('type'), schema.get('enum')];
  return [
    '<parameter>',
    `<name>${name}</name>`,
    ...(type === undefined ? [] : [`<type>${pythonStr(type)}</type>`]),
    ...describe(schema),
    ...(values === undefined ? [] : [`<enum>${dumpJson(values)}</enum>`]),
    ...writeOthers(schema, ['name', 'type', 'description', 'enum']),
    '</parameter>',
  ];
}

function describe(schema: PythonDict): string[] {
  const description = schema.get('description');
  return typeof description !== 'string' || isBlank(description) ? [] : [`<description>${strip(description)}</description>`];
}

/** Every other key as a tag. */
function writeOthers(schema: PythonDict, known: readonly string[]): string[] {
  return [...schema].filter(([key]) => !known.includes(key)).map(([key, value]) => `<${key}>${writeAsPython(value)}</${key}>`);
}
