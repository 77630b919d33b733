import { endpoints } from '@tinkex/types/wire';
import type { RouteName, RouteParams } from './route-types.js';

/** The route that a method and a path lead to. */
export type RouteMatch =
  | { readonly route: RouteName; readonly params: RouteParams; readonly query: string }
  | { readonly route: undefined; readonly isKnownPath: boolean };

interface Pattern {
  readonly method: string;
  readonly route: RouteName;
  readonly expression: RegExp;
  readonly names: readonly string[];
}

const NO_PARAMS: RouteParams = {};
const CHECKPOINT_ID = '(?:weights|sampler_weights|external_weights)/[^/]+';
/** Also matches malformed and bare ids: the handler refuses them with a better message. */
const ANY_CHECKPOINT_ID = '[^/]+(?:/[^/]+)?';

/** Finds the endpoint of a request. Checkpoint ids contain a slash, so they take two segments of the path. */
export class Router {
  readonly #fixed = new Map<string, Map<string, RouteName>>();
  readonly #patterns: Pattern[] = [];
  readonly #basePath: string;

  constructor(basePath: string) {
    this.#basePath = basePath;
    const names = Object.keys(endpoints) as RouteName[];
    for (const route of names) {
      const { method, path } = endpoints[route];
      if (!path.includes('{')) {
        const methods = this.#fixed.get(path) ?? new Map<string, RouteName>();
        methods.set(method, route);
        this.#fixed.set(path, methods);
      }
    }
    // Exact checkpoint ids before loose ones, longer paths before shorter: `…/weights/ttl/ttl` is the TTL of `weights/ttl`.
    const withParams = names.filter((route) => endpoints[route].path.includes('{'));
    withParams.sort((left, right) => endpoints[right].path.length - endpoints[left].path.length);
    for (const checkpointId of [CHECKPOINT_ID, ANY_CHECKPOINT_ID]) {
      this.#patterns.push(...withParams.map((route) => patternOf(route, checkpointId)));
    }
  }

  match(method: string, target: string): RouteMatch {
    const queryAt = target.indexOf('?');
    const fullPath = queryAt < 0 ? target : target.slice(0, queryAt);
    if (!fullPath.startsWith(this.#basePath)) return { route: undefined, isKnownPath: false };
    const path = this.#basePath === '' ? fullPath : fullPath.slice(this.#basePath.length);
    const query = queryAt < 0 ? '' : target.slice(queryAt + 1);
    const methods = this.#fixed.get(path);
    if (methods !== undefined) {
      const route = methods.get(method);
      return route === undefined ? { route, isKnownPath: true } : { route, params: NO_PARAMS, query };
    }
    return this.#matchPatterns(method, path, query);
  }

  #matchPatterns(method: string, path: string, query: string): RouteMatch {
    let isKnownPath = false;
    for (const pattern of this.#patterns) {
      const values = pattern.expression.exec(path);
      if (values !== null) {
        isKnownPath = true;
        if (pattern.method === method) {
          const params = Object.fromEntries(pattern.names.map((name, index) => [name, decoded(values[index + 1] ?? '')]));
          return { route: pattern.route, params, query };
        }
      }
    }
    return { route: undefined, isKnownPath };
  }
}

function patternOf(route: RouteName, checkpointId: string): Pattern {
  const { method, path } = endpoints[route];
  const names: string[] = [];
  const source = path.replace(/\{(\w+)\}/g, (_whole: string, name: string) => {
    names.push(name);
    return name === 'checkpoint_id' ? `(${checkpointId})` : '([^/]+)';
  });
  return { method, route, names, expression: new RegExp(`^${source}$`) };
}

/** Decodes percent escapes. Text with a broken escape stays as it is, so that it matches nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
