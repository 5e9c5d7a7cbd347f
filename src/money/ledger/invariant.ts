/** Throws when an invariant of the ledger is broken, which is always a programming error. */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`Broken ledger invariant: ${rule}`)
}
