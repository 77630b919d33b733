import { ConfigurationError, type JsonObject } from '@tinkex/types';
import { isPlainObject } from '../core/plain-object.js';

/** A tool the model may call. Other fields than these are kept; some templates write them. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: JsonObject;
  readonly [field: string]: unknown;
}

/** A schema that can describe itself as JSON schema, such as a zod 4 schema. */
export interface JsonSchemaSource {
  toJSONSchema(): object;
}

/** What {@link tool} takes. */
export interface ToolOptions {
  readonly name: string;
  /** Default: empty. */
  readonly description?: string | undefined;
  /** A JSON schema, or a schema object such as zod's. Default: an object without properties. */
  readonly parameters?: JsonObject | JsonSchemaSource | undefined;
}

/**
 * Describes a tool. Throws a `ConfigurationError` when the parameters are not a JSON schema and cannot become one.
 *
 * @example
 * tool({ name: 'get_weather', description: 'Weather of a city', parameters: z.object({ city: z.string() }) });
 */
export function tool({ name, description = '', parameters = { type: 'object', properties: {} } }: ToolOptions): ToolSpec {
  if (name === '')
    throw new ConfigurationError({ option: 'name', message: 'The name of a tool is empty. Give it the name the model calls.' });
  return { name, description, parameters: toJsonSchema(name, parameters) };
}

function toJsonSchema(name: string, parameters: JsonObject | JsonSchemaSource): JsonObject {
  if (typeof (parameters as JsonSchemaSource).toJSONSchema === 'function') {
    // The dialect's address and zod's own marker are not part of what models were trained on.
    const { $schema: _, '~standard': __, ...schema } = (parameters as JsonSchemaSource).toJSONSchema() as Record<string, never>;
    return schema;
  }
  if (isPlainObject(parameters)) return parameters as JsonObject;
  throw new ConfigurationError({
    option: 'parameters',
    message: `The parameters of tool "${name}" are neither a JSON schema nor a zod schema. Pass z.object({ … }) or { type: 'object', … }.`,
  });
}
