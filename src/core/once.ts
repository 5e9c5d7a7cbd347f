/** Makes a thing when it is first asked for: a start of the house does not wait for it. */
export function once<Thing>(make: () => Thing): () => Thing {
  let made: Thing | undefined
  return () => (made ??= make())
}
