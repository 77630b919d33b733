import { readFileSync } from 'node:fs';

/** A field of an event, as the source declares it. */
export interface DeclaredField {
  readonly name: string;
  readonly isOptional: boolean;
  readonly documentation: string;
}

/** An event, as the source declares it. */
export interface DeclaredEvent {
  readonly name: string;
  readonly payload: string;
  readonly documentation: string;
  /** Inherited ones first. */
  readonly fields: readonly DeclaredField[];
}

interface Declaration {
  readonly parent: string | undefined;
  readonly members: readonly (DeclaredField & { readonly type: string })[];
}

const sources = ['events.ts', 'payloads.ts', 'recovery-payloads.ts'].map(
  (name) => new URL(`../../types/src/events/${name}`, import.meta.url),
);

/** Reads the catalog from its source: the interfaces, what they inherit, and their documentation. */
export function declaredEvents(): readonly DeclaredEvent[] {
  const interfaces = parseInterfaces(sources.map((url) => readFileSync(url, 'utf8')).join('\n'));
  const catalogue = interfaces.get('TinkexEvents');
  if (catalogue === undefined) throw new Error('The source declares no interface TinkexEvents.');
  return catalogue.members.map(({ name, type, documentation }) => ({
    name,
    payload: type,
    documentation,
    fields: fieldsOf(type, interfaces),
  }));
}

function fieldsOf(name: string, interfaces: ReadonlyMap<string, Declaration>): readonly DeclaredField[] {
  const declaration = interfaces.get(name);
  if (declaration === undefined) throw new Error(`The source declares no interface ${name}.`);
  const fields = new Map<string, DeclaredField>();
  if (declaration.parent !== undefined) for (const field of fieldsOf(declaration.parent, interfaces)) fields.set(field.name, field);
  for (const field of declaration.members) fields.set(field.name, field);
  return [...fields.values()];
}

function parseInterfaces(text: string): ReadonlyMap<string, Declaration> {
  const interfaces = new Map<string, Declaration>();
  for (const [, name = '', parent, body = ''] of text.matchAll(/^export interface (\w+)(?: extends (\w+))? \{\n([\s\S]*?)^\}/gm)) {
    interfaces.set(name, { parent, members: parseMembers(body) });
  }
  return interfaces;
}

function parseMembers(body: string): Declaration['members'] {
  const member = /(?:^ {2}\/\*\*([\s\S]*?)\*\/\n)?^ {2}(?:readonly )?(?:'([^']+)'|(\w+))(\??): (.+);$/gm;
  return Array.from(body.matchAll(member), ([, documentation = '', quoted, plain, optional, type = '']) => ({
    name: quoted ?? plain ?? '',
    isOptional: optional === '?',
    documentation: documentation.replace(/\s*\*\s+/g, ' ').trim(),
    type,
  }));
}
