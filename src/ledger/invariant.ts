/** Throws when a law of the ledger does not hold: always a fault of ours, never an expected no. */
export function invariant(holds: boolean, law: string): asserts holds {
  if (!holds) throw new Error(`The ledger's law is broken: ${law}`)
}
