import { InvalidArgumentError } from 'commander'

const countMax = 10_000

/** Parses the value of `--limit`. */
export function countOf(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= countMax) return count
  throw new InvalidArgumentError(`Give a number from 1 to ${countMax}.`)
}

/** Returns the first items of a list, and reads no further page. */
export async function take<Item>(list: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length === count) break
  }
  return items
}
