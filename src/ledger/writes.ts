import { chained } from '../db/chain.ts'
import { credit, debit, reserve, unreserve } from './accounts.ts'
import { uncountSpending } from './caps.ts'
import { entryAfter } from './entries.ts'
import { claim, end } from './holds.ts'
import { entries } from './tables.ts'

/** Writes a hold and reserves its amount. */
export const claimAndReserve = chained((db, { write }) => {
  const claimed = write('claimed', claim(db))
  return { claimed, reserved: write('reserved', reserve(db, claimed.isDone)) }
})

/** Ends a hold that charges nothing, its reservation and its part of the counters. */
export const endAndUnreserve = chained((db, { write }) => {
  const ended = write('ended', end(db))
  const unreserved = write('unreserved', unreserve(db, ended.isDone))
  write('uncounted', uncountSpending(db, unreserved.isDone))
  return { ended, unreserved }
})

/** Ends a hold, debits its charge, and subtracts the rest from its counters. */
export const endAndDebit = chained((db, { write, insertAfter }) => {
  const ended = write('ended', end(db))
  const payer = write('payer', debit(db, ended.isDone))
  insertAfter(payer, entries, entryAfter(payer))
  write('uncounted', uncountSpending(db, payer.isDone))
  return { ended, payer }
})

export const debitAndAppend = chained((db, { write, insertAfter }) => {
  const payer = write('payer', debit(db))
  insertAfter(payer, entries, entryAfter(payer))
  return { payer }
})

export const creditAndAppend = chained((db, { write, insertAfter }) => {
  const receiver = write('receiver', credit(db))
  insertAfter(receiver, entries, entryAfter(receiver))
  return { receiver }
})
