/** Uses what was opened, and closes it whatever happens. Built packages must not contain `await using`, which Node 20 does not know. */
export async function closing<Opened extends AsyncDisposable, Result>(
  opened: Promise<Opened>,
  use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const own = await opened;
  try {
    return await use(own);
  } finally {
    await own[Symbol.asyncDispose]();
  }
}
