import { invalidMessages } from '../core/masks.js';
import { dumpJson, isDict, type PythonDict, type PythonValue, pythonStr, toPython } from '../core/python-json.js';
import { compareCodePoints } from '../core/python-text.js';
import type { ToolSpec } from '../messages/tool.js';

/** Tools as Kimi K2.5 declares them: a TypeScript namespace. */
export function declareAsTypeScript(tools: readonly ToolSpec[]): string {
  return `# Tools\n\n## functions\nnamespace functions {\n${tools.map(declareFunction).join('\n')}\n}\n`;
}

const INDENT = '  ';
const NO_FIELDS: PythonDict = new Map();

/** Which constraints a type of value may have. */
const CONSTRAINTS: Readonly<Record<string, readonly string[]>> = {
  string: ['maxLength', 'minLength', 'pattern'],
  number: ['maximum', 'minimum'],
  integer: ['maximum', 'minimum'],
  array: ['minItems', 'maxItems'],
};

function declareFunction({ name, description, parameters }: ToolSpec): string {
  const schema = toPython(parameters) as PythonDict;
  const definitions = dictAt(schema, '$defs');
  const isRecursive = refersToItself(schema);
  const interfaces = [
    ...(isRecursive ? [`interface parameters ${writeObject(schema, '', 'as given')}`] : []),
    ...[...definitions].map(([key, value]) => `${commentLines(descriptionOf(value), '')}interface ${key} ${writeType(value, '')}`),
  ];
  const comment = description === '' ? [] : [commentLines(description, '').trimEnd()];
  return [...interfaces, ...comment, `type ${name} = (_: ${isRecursive ? 'parameters' : writeType(schema, '')}) => any;`].join('\n');
}

/** Whether a schema contains a reference to its root. */
function refersToItself(value: PythonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!isDict(value)) return value.some(refersToItself);
  return value.get('$ref') === '#' || [...value.values()].some(refersToItself);
}

function writeType(schema: PythonValue, indent: string): string {
  if (schema === true) return 'any';
  if (schema === false) return 'null';
  if (!isDict(schema)) throw unknownSchema(schema);
  if (schema.size === 0) return 'any';
  const [reference, values, choices, type] = [schema.get('$ref'), schema.get('enum'), schema.get('anyOf'), schema.get('type')];
  if (typeof reference === 'string') return reference === '#' ? 'parameters' : reference.replace('#/$defs/', '');
  if (Array.isArray(values))
    return values.map((value: PythonValue) => (typeof value === 'string' ? `"${value}"` : pythonStr(value))).join(' | ');
  if (Array.isArray(choices)) return choices.map((choice: PythonValue) => writeType(choice, indent)).join(' | ');
  if (Array.isArray(type)) return type.map(writeNamedType).join(' | ');
  if (type === 'object') return writeObject(schema, indent, 'required first');
  if (type === 'array') return writeArray(schema, indent);
  if (typeof type === 'string') return writeNamedType(type);
  throw unknownSchema(schema);
}

/** A type that stands alone, without its own schema. */
function writeNamedType(type: PythonValue): string {
  const names: Readonly<Record<string, string>> = { object: '{}', array: 'Array<any>', integer: 'number' };
  const name = typeof type === 'string' ? (names[type] ?? type) : undefined;
  if (name === undefined) throw unknownSchema(type);
  return name;
}

function writeObject(schema: PythonDict, indent: string, order: 'required first' | 'as given'): string {
  const inner = `${indent}${INDENT}`;
  const required = new Set((schema.get('required') ?? []) as readonly PythonValue[]);
  const properties = [...dictAt(schema, 'properties')];
  const byName = ([left]: [string, PythonValue], [right]: [string, PythonValue]) => compareCodePoints(left, right);
  const ordered =
    order === 'as given'
      ? properties
      : [
          ...properties.filter(([name]) => required.has(name)).sort(byName),
          ...properties.filter(([name]) => !required.has(name)).sort(byName),
        ];
  const fields = ordered.map(
    ([name, value]) => `${documentField(value, inner)}${inner}${name}${required.has(name) ? '' : '?'}: ${writeType(value, inner)}`,
  );
  const additional = schema.get('additionalProperties');
  if (additional !== undefined) fields.push(`${inner}[k: string]: ${additional === false ? 'never' : writeType(additional, inner)}`);
  return fields.length === 0 ? '{}' : `{\n${fields.join(',\n')}\n${indent}}`;
}

function writeArray(schema: PythonDict, indent: string): string {
  const items = schema.get('items');
  if (items === undefined) return 'Array<any>';
  const inner = `${indent}${INDENT}`;
  const documentation = documentField(items, inner);
  return documentation === ''
    ? `Array<${writeType(items, indent)}>`
    : `Array<\n${documentation}${inner}${writeType(items, inner)}\n${indent}>`;
}

/** What a comment above a field says: description, constraints, default. */
function documentField(schema: PythonValue, indent: string): string {
  if (!isDict(schema)) return '';
  const type = schema.get('type');
  const constraints = (typeof type === 'string' ? (CONSTRAINTS[type] ?? []) : [])
    .toSorted()
    .flatMap((key) => (schema.has(key) ? [`${key}: ${pythonStr(schema.get(key) ?? null)}`] : []));
  const preset = schema.get('default') ?? null;
  const isScalar = typeof preset === 'bigint' || typeof preset === 'number' || typeof preset === 'boolean';
  return [
    commentLines(descriptionOf(schema), indent),
    constraints.length === 0 ? '' : `${indent}// ${constraints.join(', ')}\n`,
    preset === null ? '' : `${indent}// Default: ${isScalar ? pythonStr(preset) : dumpJson(preset, { raw: true })}\n`,
  ].join('');
}

function commentLines(text: string, indent: string): string {
  return text === ''
    ? ''
    : text
        .split('\n')
        .map((line) => (line === '' ? '\n' : `${indent}// ${line}\n`))
        .join('');
}

function descriptionOf(schema: PythonValue): string {
  const description = isDict(schema) ? schema.get('description') : undefined;
  return typeof description === 'string' ? description : '';
}

function dictAt(schema: PythonDict, key: string): PythonDict {
  const value = schema.get(key);
  return value !== undefined && isDict(value) ? value : NO_FIELDS;
}

function unknownSchema(schema: PythonValue): Error {
  return invalidMessages('tools', `have a schema that cannot be declared in TypeScript: ${dumpJson(schema)}.`);
}
