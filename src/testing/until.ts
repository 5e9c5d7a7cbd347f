/** Polls until a result is truthy and returns it. Throws after ten seconds. */
export async function until<T>(
  poll: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    await Bun.sleep(10)
  }
  throw new Error('The condition did not become true.')
}
