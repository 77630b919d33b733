import type { RouteName } from '../routes/route-types.js';
import { Script, type TakenScript } from './script.js';
import type { ScriptedCall } from './scripted-call.js';

/** All scripts of a server, by route. */
export class ScriptBook {
  readonly #scripts = new Map<RouteName, Script[]>();

  add<Name extends RouteName>(route: Name): Script<Name> {
    const script = new Script(route);
    this.#scripts.set(route, [...(this.#scripts.get(route) ?? []), script as unknown as Script]);
    return script;
  }

  /** Whether any script could take a call of this route. */
  has(route: RouteName): boolean {
    return this.#scripts.has(route);
  }

  take(call: Omit<ScriptedCall, 'occurrence'>): TakenScript | undefined {
    for (const script of this.#scripts.get(call.route) ?? []) {
      const taken = script.take(call);
      if (taken !== undefined) return taken;
    }
    return undefined;
  }

  complaints(): string[] {
    return [...this.#scripts.values()].flatMap((list) => list.flatMap((script) => script.complaint() ?? []));
  }

  clear(): void {
    this.#scripts.clear();
  }
}
