/** The shortest time between the starts of two polls of one promise. */
export const POLL_FLOOR_MS = 25;
/** What the floor grows to while the server keeps answering at once. */
export const POLL_FLOOR_MAX_MS = 1_000;
/** An answer that took this long was held by the server: a long poll, which paces itself. */
export const HELD_ANSWER_MS = 1_000;

/** Half a millisecond for each pending promise: a server that holds no polls sees at most about 2,000 a second from one client. */
const SHARE_MS_PER_PENDING = 0.5;

/**
 * The least time from the start of one poll to the start of the next. The protocol says "poll again at once", which is right
 * for a server that holds the request and a busy loop against one that does not; so the pace is counted from the start of
 * the last poll, and a held poll has used it up.
 *
 * @param quickAnswers - How many answers in a row came without being held.
 * @param pending - How many promises this client polls in all.
 */
export function pollFloorMs(quickAnswers: number, pending: number): number {
  const own = Math.min(POLL_FLOOR_MS * 2 ** quickAnswers, POLL_FLOOR_MAX_MS);
  return Math.max(own, pending * SHARE_MS_PER_PENDING);
}
