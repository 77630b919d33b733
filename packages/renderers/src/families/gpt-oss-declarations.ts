import { dumpJson, isDict, type PythonDict, type PythonValue, toPython } from '../core/python-json.js';
import type { ToolSpec } from '../messages/tool.js';

/** Tools as gpt-oss declares them: TypeScript types of functions. */
export function declareForHarmony(tools: readonly ToolSpec[]): string {
  return tools.map(declareFunction).join('\n\n');
}

function declareFunction({ name, description, parameters }: ToolSpec): string {
  const comment = description === '' ? '' : `// ${description}\n`;
  return `${comment}type ${name} = ${writeParameters(toPython(parameters) as PythonDict)} => any;`;
}

function writeParameters(schema: PythonDict): string {
  const properties = propertiesOf(schema);
  if (schema.get('type') !== 'object' || properties.length === 0) return '()';
  const description = schema.get('description');
  const lines = properties.flatMap(([name, property, mark]) => [
    ...documentProperty(property),
    `${name}${mark}: ${writeType(property)},${isDict(property) && property.has('default') ? ` // default: ${dumpJson(property.get('default') ?? null)}` : ''}`,
  ]);
  return `(_:${typeof description === 'string' && description !== '' ? ` // ${description}` : ''}\n{\n${lines.join('\n')}\n})`;
}

/** The comment above a property: title, description, examples. */
function documentProperty(property: PythonValue): string[] {
  if (!isDict(property)) return [];
  const [title, description, examples] = [property.get('title'), property.get('description'), property.get('examples')];
  return [
    ...(title === undefined ? [] : [`// ${String(title)}`, '// ']),
    ...(description === undefined ? [] : [`// ${String(description)}`]),
    ...(Array.isArray(examples) && examples.length > 0
      ? ['// Examples:', ...examples.map((example: PythonValue) => `// - ${dumpJson(example)}`)]
      : []),
  ];
}

function writeType(schema: PythonValue): string {
  if (!isDict(schema)) return 'any';
  const type = writeBareType(schema);
  return schema.get('nullable') === true ? `${type} | null` : type;
}

function writeBareType(schema: PythonDict): string {
  const [choices, type, values] = [schema.get('oneOf') ?? schema.get('anyOf'), schema.get('type'), schema.get('enum')];
  if (Array.isArray(choices)) return choices.map(writeType).join(' | ');
  if (Array.isArray(type)) return type.map((name: PythonValue) => writeType(new Map([...schema, ['type', name]]))).join(' | ');
  switch (type) {
    case 'string':
      return Array.isArray(values) ? values.map((value: PythonValue) => dumpJson(value)).join(' | ') : 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.has('items') ? `${writeType(schema.get('items') ?? null)}[]` : 'any[]';
    case 'object': {
      const fields = propertiesOf(schema).map(([name, property, mark]) => `${name}${mark}: ${writeType(property)}`);
      return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
    }
    default:
      return 'any';
  }
}

/** Name, schema, and `?` unless the property is required. */
function propertiesOf(schema: PythonDict): [name: string, property: PythonValue, mark: string][] {
  const properties = schema.get('properties');
  const required = (schema.get('required') ?? []) as readonly PythonValue[];
  if (properties === undefined || !isDict(properties)) return [];
  return [...properties].map(([name, property]) => [name, property, required.includes(name) ? '' : '?']);
}
