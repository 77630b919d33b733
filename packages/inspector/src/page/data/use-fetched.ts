import { useEffect, useRef, useState } from 'preact/hooks';

/** What a fetch has come to. The last value stays while a newer one is on its way. */
export interface Fetched<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
}

/**
 * Fetches whenever `key` changes, one fetch at a time: changes during a fetch lead to one more after it. An undefined key fetches nothing. A new `subject` forgets the
 * value of the old one.
 */
export function useFetched<T>(subject: string, key: string | undefined, fetchValue: () => Promise<T>): Fetched<T> {
  const [state, setState] = useState<Fetched<T> & { readonly subject: string }>({ subject, value: undefined, error: undefined });
  const latest = useRef({ subject, key, fetchValue, isBusy: false });
  Object.assign(latest.current, { subject, key, fetchValue });

  useEffect(() => {
    const { current } = latest;
    async function run(): Promise<void> {
      if (current.isBusy) return;
      current.isBusy = true;
      let done: string | undefined;
      while (current.key !== undefined && done !== current.subject + current.key) {
        const about = current.subject;
        done = about + current.key;
        try {
          const value = await current.fetchValue();
          setState({ subject: about, value, error: undefined });
        } catch (error) {
          setState((before) => ({ ...before, subject: about, error: error instanceof Error ? error.message : String(error) }));
        }
      }
      current.isBusy = false;
    }
    void run();
  }, [subject, key]);

  return state.subject === subject ? state : { value: undefined, error: undefined };
}
