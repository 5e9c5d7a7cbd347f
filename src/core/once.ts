/** Makes a thing when it is first asked for: a start of the house does not wait for it. */
export function once<Thing>(make: () => Thing): () => Thing {
  let made: Thing | undefined
  return () => (made ??= make())
}

/** The same for each house, or for each database: it is there as long as that is. */
export function onceFor<Owner extends WeakKey, Thing>(
  make: (owner: Owner) => Thing,
): (owner: Owner) => Thing {
  const all = new WeakMap<Owner, Thing>()
  return (owner) => {
    const known = all.get(owner)
    if (known !== undefined) return known
    const made = make(owner)
    all.set(owner, made)
    return made
  }
}
