import { Chaos, type ChaosOptions } from '../faults/chaos.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { CallFilter, Recorder } from '../recorder/recorder.js';
import { scopedKey } from '../requests/scope-of.js';
import type { RouteName } from '../routes/route-types.js';
import { VerificationError, type Violation, violationLine } from '../rules/rules.js';
import { Expectation } from '../script/expectation.js';
import type { Script } from '../script/script.js';
import type { Interventions } from './interventions.js';

/**
 * The controls of a server for the calls of one scope, so that tests that run at the same time share a server. A call belongs to a scope
 * when it has the API key of the scope, or names the scope in the header `X-Testkit-Scope`. Created by `server.scope(name)`.
 */
export class ServerScope {
  readonly name: string;
  /** A key whose calls belong to this scope. It is also a tenant: scopes do not see each other's sessions and models. */
  readonly apiKey: string;
  readonly #baseUrl: string;
  readonly #recorder: Recorder;
  readonly #interventions: Interventions;
  readonly #expectations: Expectation[] = [];

  /** @internal Use `server.scope(name)`. */
  constructor(name: string, baseUrl: string, recorder: Recorder, interventions: Interventions) {
    this.name = name;
    this.apiKey = scopedKey(name);
    this.#baseUrl = baseUrl;
    this.#recorder = recorder;
    this.#interventions = interventions;
  }

  /** Options for a client whose calls belong to this scope. */
  get clientOptions(): { readonly baseUrl: string; readonly apiKey: string } {
    return { baseUrl: this.#baseUrl, apiKey: this.apiKey };
  }

  /** Scripts calls of a route. See {@link Script}. */
  on<Name extends RouteName>(route: Name): Script<Name> {
    return this.#interventions.addScript(route, this.name);
  }

  /** Expects a number of calls of a route; `verify` checks it. */
  expect(route: RouteName): Expectation {
    const expectation = new Expectation(route);
    this.#expectations.push(expectation);
    return expectation;
  }

  /** Starts random faults for the calls of this scope. Replaces its earlier chaos. */
  chaos(options: ChaosOptions): Chaos {
    const chaos = new Chaos(options);
    this.#interventions.setChaos(chaos, this.name);
    return chaos;
  }

  /** The calls of this scope that are still recorded, oldest first. */
  get calls(): readonly RecordedCall[] {
    return this.#recorder.calls.filter(({ scope }) => scope === this.name);
  }

  /** How many calls of a route are still recorded. */
  count(route: RouteName, filter: CallFilter = {}): number {
    return this.#recorder.count(route, { ...filter, scope: this.name });
  }

  /** The rules that the recorded calls of this scope broke. */
  get violations(): readonly Violation[] {
    return this.calls.flatMap(({ violations }) => violations);
  }

  /** @internal The complaints about numbers of calls. */
  get unmetExpectations(): readonly string[] {
    return this.#expectations.flatMap((expectation) => expectation.complaint(this.count(expectation.route)) ?? []);
  }

  /** What `verify` complains about. */
  get problems(): readonly string[] {
    return [...this.violations.map(violationLine), ...this.unmetExpectations, ...this.#interventions.complaints(this.name)];
  }

  /** Throws a {@link VerificationError} that lists every broken rule, unmet expectation and unused script of this scope. */
  verify(): void {
    const { problems } = this;
    if (problems.length > 0) throw new VerificationError(problems);
  }

  /** Forgets scripts, chaos, expectations and calls of this scope. Sessions, models and weights stay. */
  reset(): void {
    this.#interventions.clearScope(this.name);
    this.#expectations.length = 0;
    this.#recorder.clearScope(this.name);
  }
}
