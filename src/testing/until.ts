/** Polls until a result is truthy and returns it. Throws after 45 s, which busy machines need. */
export async function until<T>(
  poll: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  const deadline = performance.now() + 45_000
  while (performance.now() < deadline) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    await Bun.sleep(10)
  }
  throw new Error('The condition did not become true.')
}
