import { endpoints } from '@tinkex/types/wire';
import { nearest } from './nearest.js';
import type { RouteName } from './route-types.js';

const ROUTES = Object.keys(endpoints) as readonly RouteName[];

/** Every route of the API. */
export function allRoutes(): readonly RouteName[] {
  return ROUTES;
}

/** The route of this name. Throws a `RangeError` that suggests the nearest one for a name that does not exist. */
export function requireRoute<Name extends RouteName>(name: Name): Name {
  if (Object.hasOwn(endpoints, name)) return name;
  throw new RangeError(`There is no route ${JSON.stringify(name)}; did you mean ${JSON.stringify(nearest(String(name), ROUTES))}?`);
}
