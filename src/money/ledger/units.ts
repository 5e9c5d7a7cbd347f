/** The units of work of the ledger: what each needs, and what it does to the rows in memory. */
import { ApiError } from '../../kernel/errors.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import { availableOf, isServiceAccount, serviceAccounts } from './accounts.ts'
import {
  checkBudgets,
  clampCharge,
  dailyCapError,
  type Hold,
  type HoldRequest,
  invariant,
  periodAt,
  termsOf,
} from './holds.ts'
import type { SettlementRow } from './settlement-rows.ts'
import type { PercentShare } from './tables.ts'
import type { Account, LedgerView, Needs } from './view.ts'

/** A hold after a unit. `isChanged`: this unit did it, and no earlier one. */
export interface UnitResult {
  hold: Hold
  isChanged: boolean
  /** The balance of the payer after a charge. */
  balance?: NanoUsd
}

/** A function over the rows in memory that it needs. It throws an ApiError, or does all of it. */
export interface Unit {
  needs: Needs
  run(view: LedgerView): UnitResult
  /** Rows of other modules that commit with it. */
  rows?: SettlementRow[]
  /** Survives the end of the process, but not a loss of power. */
  isSoft?: boolean
}

/** Returns the counters of a hold: its key, the group of its key, and the agent that pays. */
const countersOf = ({ capKey, capGroup, capPayer }: Hold): string[] =>
  [capKey, capGroup, capPayer].filter((key) => key !== null)

function needsOf(hold: Hold): Needs {
  const since = hold.capDay ?? ''
  return {
    accounts: [hold.account, ...hold.parts.map(({ account }) => account)],
    refs: [],
    ends: [hold],
    counters: countersOf(hold).map((key) => ({ key, since })),
    callers: [],
  }
}

/** Opens a hold. Throws what `openHold` throws, in that order. */
export function openUnit(
  hold: Hold,
  { cap, budgets = [], caller }: Pick<HoldRequest, 'cap' | 'budgets' | 'caller'>,
): Unit {
  const { amount, account: id, capDay: day, at } = hold
  const periods = budgets.map(({ counter: key, period }) => ({
    key,
    since: utcDay(periodAt(period, at).start),
  }))
  const needs = needsOf(hold)
  return {
    isSoft: true,
    needs: {
      accounts: [id],
      refs: [hold.ref],
      ends: [],
      counters: [...needs.counters, ...periods],
      callers: caller ? [caller.id] : [],
    },
    run(view) {
      const existing = claim(view, hold)
      if (existing) return { hold: existing, isChanged: false }
      const account = view.accounts.get(id)
      if (!account || availableOf(account, hold.funds) < amount) throw notEnough(account, hold)
      view.putAccount(reserve(account, hold, 1n))
      if (caller) countCall(view, caller.id, 1, caller.max)
      if (day !== null && amount > 0n) {
        const spent = cap ? view.spentOn(cap.key, day) : zero
        if (cap && cap.max !== null && spent + amount > cap.max) {
          throw dailyCapError(cap.max, spent, at)
        }
        for (const key of countersOf(hold)) view.count(key, day, amount)
      }
      checkBudgets(view.counters.all(), budgets, at)
      return { hold, isChanged: true }
    },
  }
}

/** Ends an open hold with a charge, clamped to 0 <= charge <= hold; a released one without. */
export function endUnit(
  hold: Hold,
  state: 'settled' | 'released',
  charge: NanoUsd,
  rows: SettlementRow[] = [],
): Unit {
  const charged = state === 'settled' ? clampCharge(hold, charge) : zero
  const needs = needsOf(hold)
  const income = charged > 0n ? [serviceAccounts.income] : []
  return {
    needs: { ...needs, accounts: [...needs.accounts, ...income] },
    rows,
    run: (view) =>
      end(view, hold, (open) => {
        const ended: Hold = { ...open, state, charged }
        if (charged === 0n) return { hold: ended, isChanged: true }
        const freeMax = ended.funds === 'any' ? charged : zero
        const payer = debit(view, view.getAccount(ended.account), ended, freeMax)
        creditReceivers(view, ended, payer.lastFree, true)
        return { hold: ended, isChanged: true, balance: payer.balance }
      }),
  }
}

/** Settles a hold that was never open. `freeMax` is what free credits may pay of it. */
export function transferUnit(hold: Hold, freeMax: NanoUsd): Unit {
  return {
    needs: { ...needsOf(hold), refs: [hold.ref], ends: [] },
    run(view) {
      const existing = claim(view, hold)
      if (existing) return { hold: existing, isChanged: false }
      const account = view.accounts.get(hold.account)
      const isCovered = account && account.balance - hold.charged >= account.held
      if (!isCovered && !isServiceAccount(hold.account)) throw notEnough(account, hold)
      const payer = debit(view, view.getAccount(hold.account), hold, freeMax)
      creditReceivers(view, hold, payer.lastFree, false)
      return { hold, isChanged: true, balance: payer.balance }
    },
  }
}

/**
 * Claims the ref of a hold. A released ref may be claimed again. Returns the hold that has the ref
 * when its terms are the same; else throws `ref_conflict`.
 */
function claim(view: LedgerView, hold: Hold): Hold | undefined {
  const existing = view.holds.get(hold.ref)
  if (existing && existing.state !== 'released') {
    if (termsOf(existing) === termsOf(hold)) return existing
    throw new ApiError('ref_conflict', { ref: hold.ref })
  }
  view.holds.put(hold)
  return undefined
}

/** Ends a hold, its reservation and its counts. One that has ended is returned as stored. */
function end(view: LedgerView, hold: Hold, finish: (open: Hold) => UnitResult): UnitResult {
  const open = view.ended.get(hold.ref) ?? hold
  if (open.id !== hold.id) throw new Error(`The hold ${hold.id} does not exist.`)
  if (open.state !== 'held') return { hold: open, isChanged: false }
  view.putAccount(reserve(view.getAccount(open.account), open, -1n))
  const result = finish(open)
  const rest = open.amount - result.hold.charged
  const { capDay: day, caller } = open
  if (day !== null && rest > 0n) {
    for (const key of countersOf(open)) view.count(key, day, -rest)
  }
  if (caller !== null) countCall(view, caller, -1)
  view.ended.put(result.hold)
  return result
}

/** Returns the account with the amount of a hold reserved, or no longer reserved. */
function reserve(account: Account, { amount, funds }: Hold, sign: 1n | -1n): Account {
  const paid = funds === 'paid' ? amount : zero
  return {
    ...account,
    held: nano(account.held + sign * amount),
    paidHeld: nano(account.paidHeld + sign * paid),
  }
}

/** Counts the open holds of a caller, where they are limited. Throws `holds_limit`. */
function countCall(view: LedgerView, caller: string, change: number, max = Infinity): void {
  const calls = view.calls.get(caller)
  if (!calls) return
  const open = calls.open + change
  if (open > max) throw new ApiError('holds_limit', { max, retryAfter: 1 })
  view.calls.put({ caller, open })
}

/** Debits a charge: free credits first, at most `freeMax`, then bought ones, then earned ones. */
function debit(view: LedgerView, account: Account, hold: Hold, freeMax: NanoUsd): Account {
  const { charged } = hold
  const isService = isServiceAccount(account.id)
  const lastFree = isService || freeMax < account.free ? freeMax : account.free
  const free = nano(account.free - lastFree)
  const paidLeft = nano(account.balance - charged - free)
  const earned = isService || account.earned <= paidLeft ? account.earned : paidLeft
  const movement = { ...nameOf(hold), line: 0, amount: nano(-charged) }
  return view.post({ ...account, free, earned, lastFree }, movement)
}

const nameOf = ({ ref, kind, item }: Hold) => ({ ref, kind, item })

/**
 * Credits the receivers of a charge: shares are rounded down, and the service earns the rest. Free
 * credits are divided in proportion. `isEarned`: receivers earn
 * their part and may have it paid out.
 */
function creditReceivers(view: LedgerView, hold: Hold, lastFree: NanoUsd, isEarned: boolean) {
  const { charged } = hold
  let received = 0n
  let freeReceived = 0n
  for (const [at, part] of hold.parts.entries()) {
    const { account: id } = part
    const amount = 'percent' in part ? shareOf(charged, part) : nano(BigInt(part.amount))
    const { kind = hold.kind, item = hold.item } = 'percent' in part ? part : hold
    if (amount === 0n) continue
    received += amount
    const free = nano((lastFree * received) / charged - freeReceived)
    freeReceived += free
    invariant(id !== hold.account, 'an account does not pay itself')
    invariant(free <= amount, 'free is a part of every receipt')
    const account = view.getAccount(id)
    const earns = isEarned && !isServiceAccount(id) ? amount - free : 0n
    const parts = { free: nano(account.free + free), earned: nano(account.earned + earns) }
    view.post({ ...account, ...parts }, { ref: hold.ref, kind, item, line: at + 1, amount })
  }
  invariant(received <= charged, 'shares are at most the charge')
  view.earn(nano(charged - received), nano(lastFree - freeReceived))
}

const shareOf = (charged: NanoUsd, { percent, of = 100 }: PercentShare): NanoUsd =>
  nano((charged * BigInt(percent)) / BigInt(of))

function notEnough(account: Account | undefined, { amount, funds }: Hold): ApiError {
  const available = availableOf(account, funds)
  const free = availableOf(account, 'any') - available
  return new ApiError('not_enough_credits', { needed: amount, available, free })
}
