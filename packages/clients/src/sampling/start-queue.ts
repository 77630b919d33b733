import { setImmediate } from 'node:timers';

/** A call that has not started yet. */
export interface Startable {
  /** Its turn has come. The line counts it as under way until {@link StartLine.leave}. */
  start(): void;
}

/** How many of the places that calls leave in a busy turn are taken again. The rest is what makes the number under way go down. */
const PLACES_TAKEN_AGAIN = 7 / 8;

/**
 * A limit on the calls under way, first come, first served, that also starts calls no faster than the process gets through them. A few are
 * always under way. More start when a turn of the event loop is quiet: it has come round and no call has ended, so there was little else
 * to do. In a busy turn only most of those that ended are replaced.
 *
 * A slow server therefore gets every call within milliseconds, and has as many as it may have all the time. With a fast one the process
 * itself is the limit: there, calls that start early would only lie about half done, with all the memory of a request, and not one result
 * would come sooner.
 */
export class StartLine {
  readonly #limit: number;
  readonly #startsPerTurn: number;
  readonly #line = new Set<Startable>();
  readonly #turn = (): void => this.#takeTurn();
  #underWay = 0;
  /** How many may start although enough are under way. */
  #allowance = 0;
  #hasAnyEnded = false;
  #isTurnComing = false;

  /**
   * @param limit - How many may be under way.
   * @param startsPerTurn - How many are always under way, and how many more start in a quiet turn.
   */
  constructor(limit: number, startsPerTurn: number) {
    this.#limit = limit;
    this.#startsPerTurn = startsPerTurn;
  }

  /** Enters at once if nobody stands in line and there is room. */
  tryEnter(): boolean {
    if (this.#line.size > 0 || !this.#hasRoom()) return false;
    this.#enter();
    return true;
  }

  /** Puts a call at the end of the line. */
  join(call: Startable): void {
    this.#line.add(call);
    this.#expectTurn();
  }

  /** Takes a call out of the line. False when it is not in it, or no longer. */
  remove(call: Startable): boolean {
    return this.#line.delete(call);
  }

  /** A call that was under way is over. */
  leave(): void {
    this.#underWay -= 1;
    this.#allowance = Math.min(this.#allowance + PLACES_TAKEN_AGAIN, this.#limit);
    this.#hasAnyEnded = true;
    // Calls that start together cost less. But a turn in which many end may be a long one, and the server should not run dry meanwhile.
    if (this.#allowance >= this.#startsPerTurn) this.#startSome();
    else this.#expectTurn();
  }

  #hasRoom(): boolean {
    return this.#underWay < this.#limit && (this.#underWay < this.#startsPerTurn || this.#allowance >= 1);
  }

  #enter(): void {
    this.#underWay += 1;
    this.#allowance = Math.max(this.#allowance - 1, 0);
  }

  /** With a full house the next turn is wanted only when somebody leaves: waiting costs nothing then. */
  #expectTurn(): void {
    if (this.#isTurnComing || this.#line.size === 0 || this.#underWay >= this.#limit) return;
    this.#isTurnComing = true;
    setImmediate(this.#turn);
  }

  #takeTurn(): void {
    this.#isTurnComing = false;
    if (!this.#hasAnyEnded) this.#allowance = this.#startsPerTurn;
    this.#hasAnyEnded = false;
    this.#startSome();
  }

  #startSome(): void {
    for (const call of this.#line) {
      if (!this.#hasRoom()) break;
      this.#line.delete(call);
      this.#enter();
      call.start();
    }
    this.#expectTurn();
  }
}
