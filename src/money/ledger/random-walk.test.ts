import { expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import { nano, type NanoUsd, percentOf } from '../../kernel/money.ts'
import { minute } from '../../kernel/time.ts'
import {
  ann,
  ben,
  cy,
  holdNow,
  openTestLedger,
  releaseNow,
  settleNow,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { testSeed } from '../../testing/thorough.ts'
import { accountOf, type Owner } from './accounts.ts'
import { doctor } from './doctor.ts'
import { expireOrphans } from './expiry.ts'
import type { Hold } from './holds.ts'
import { balanceOf, grant, openOwnerAccount, spentToday, transfer } from './ledger.ts'

const steps = 600
const people = [ann, ben, cy]

/** mulberry32: a small generator that a seed decides. */
function generator(state: number): (below: number) => number {
  let next = state
  return (below) => {
    next = (next + 0x6d2b79f5) | 0
    let mixed = Math.imul(next ^ (next >>> 15), next | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** An account of the model with three separate purses, so that no sum hides an error. */
interface Purses {
  free: bigint
  bought: bigint
  earned: bigint
  held: bigint
  paidHeld: bigint
}

const all = ({ free, bought, earned }: Purses): bigint => free + bought + earned
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The rules of the ledger on plain numbers, independent of the SQL. */
class Model {
  readonly purses = new Map<string, Purses>()
  readonly open: Hold[] = []
  used = 0n

  of(name: string): Purses {
    const known = this.purses.get(name) ?? {
      free: 0n,
      bought: 0n,
      earned: 0n,
      held: 0n,
      paidHeld: 0n,
    }
    this.purses.set(name, known)
    return known
  }

  available(name: string, funds: string): bigint {
    const it = this.of(name)
    const any = all(it) - it.held
    return funds === 'any' ? any : least(any, it.bought + it.earned - it.paidHeld)
  }

  /** Takes from the purses in order and returns the free part. */
  take(name: string, amount: bigint, freeMax: bigint): bigint {
    const it = this.of(name)
    const free = least(it.free, freeMax)
    const bought = least(it.bought, amount - free)
    it.free -= free
    it.bought -= bought
    it.earned -= amount - free - bought
    return free
  }

  settle(hold: Hold, terms: bigint): void {
    this.close(hold)
    const charge = least(terms, hold.amount)
    const free = this.take(hold.account, charge, hold.funds === 'any' ? charge : 0n)
    this.used += charge
    let given = 0n
    let freeGiven = 0n
    for (const part of hold.parts) {
      if (!('percent' in part)) continue
      const amount = percentOf(nano(charge), part.percent)
      given += amount
      const freeHere = charge === 0n ? 0n : (free * given) / charge - freeGiven
      freeGiven += freeHere
      this.of(part.account).free += freeHere
      this.of(part.account).earned += amount - freeHere
    }
  }

  close(hold: Hold): void {
    this.open.splice(this.open.indexOf(hold), 1)
    const it = this.of(hold.account)
    it.held -= hold.amount
    if (hold.funds === 'paid') it.paidHeld -= hold.amount
    this.used -= hold.amount
  }
}

type Draw = (below: number) => number
type Act = (books: TestLedger, model: Model, draw: Draw, step: number) => Promise<void>

const someone = (draw: Draw): Owner => people[draw(people.length)] ?? ann

const granting: Act = async (books, model, draw, step) => {
  const account = accountOf(someone(draw))
  const amount = nano(BigInt(draw(1_000_000)) + 1n)
  const free = draw(2) === 0
  const terms = { account, amount, free, ref: `grant:${step}`, kind: 'grant' }
  await books.db.tx((db) => grant(books, db, terms))
  model.of(account)[free ? 'free' : 'bought'] += amount
}

const giving: Act = async (books, model, draw, step) => {
  const [from, to] = [accountOf(someone(draw)), accountOf(someone(draw))]
  if (from === to) return
  const amount = nano(BigInt(draw(700_000)) + 1n)
  const terms = { from, to: [{ account: to, amount }], ref: `gift:${step}`, kind: 'gift' }
  const passes = model.available(from, 'any') >= amount
  await agree(
    books.db.tx((db) => transfer(books, db, terms)),
    passes,
  )
  if (!passes) return
  const free = model.take(from, amount, amount)
  model.of(to).free += free
  model.of(to).bought += amount - free
}

const holding: Act = async (books, model, draw, step) => {
  const [payer, maker] = [someone(draw), someone(draw)]
  const account = accountOf(payer)
  const amount = nano(BigInt(draw(400_000)))
  const shares = payer === maker ? [] : [{ account: accountOf(maker), percent: draw(101) }]
  const funds = draw(4) === 0 ? 'paid' : 'any'
  const passes = model.available(account, funds) >= amount
  const onExpiry = draw(2) === 0 ? 'settle' : 'release'
  // Deadlines differ by milliseconds, because the order of equal ones is undefined.
  const ms = (draw(2) === 0 ? minute : 1_000 * minute) + step
  const held = await agree(
    holdNow(books, {
      account,
      amount,
      shares,
      funds,
      onExpiry,
      kind: 'work',
      ref: `hold:${step}`,
      ms,
      cap: { key: 'ak_1', max: null },
    }),
    passes,
  )
  if (!held) return
  model.open.push(held.hold)
  model.of(account).held += amount
  if (funds === 'paid') model.of(account).paidHeld += amount
  model.used += amount
}

const settling: Act = async (books, model, draw) => {
  const hold = model.open[draw(model.open.length || 1)]
  if (!hold) return
  const charge: NanoUsd = nano(BigInt(draw(500_000)))
  await settleNow(books, hold, charge)
  model.settle(hold, charge)
}

const releasing: Act = async (books, model, draw) => {
  const hold = model.open[draw(model.open.length || 1)]
  if (!hold) return
  await releaseNow(books, hold)
  model.close(hold)
}

const waiting: Act = async (books, model, draw) => {
  if (draw(4) > 0) return
  const until = books.clock.now() + minute
  const late = model.open.filter(({ deadline }) => deadline <= until)
  for (const hold of late.sort((a, b) => a.deadline - b.deadline)) {
    books.clock.advance(hold.deadline - books.clock.now())
    await expireOrphans(books)
    if (hold.onExpiry === 'settle') model.settle(hold, hold.amount)
    else model.close(hold)
  }
  books.clock.advance(until - books.clock.now())
}

const acts = [granting, giving, holding, holding, holding, settling, settling, releasing, waiting]

/** Requires the ledger to accept exactly what the model accepts. */
async function agree<T>(work: Promise<T>, passes: boolean): Promise<T | undefined> {
  try {
    const done = await work
    expect(passes).toBe(true)
    return done
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect([error.errorName, passes]).toEqual(['not_enough_credits', false])
    return undefined
  }
}

async function compare(books: TestLedger, model: Model): Promise<void> {
  for (const owner of people) {
    const it = model.of(accountOf(owner))
    const { balance, free, earned, held, paidHeld } = await balanceOf(books, owner)
    const stands = { balance, free, earned, held, paidHeld }
    expect<Record<string, bigint>>(stands).toEqual({
      balance: all(it),
      free: it.free,
      earned: it.earned,
      held: it.held,
      paidHeld: it.paidHeld,
    })
  }
}

test(`a random walk agrees with a small model at every step (seed ${testSeed})`, async () => {
  const books = await openTestLedger()
  const model = new Model()
  const draw = generator(testSeed)
  // Starts long before midnight, so that one day's counter covers the whole walk.
  books.clock.advance(minute)
  for (const owner of people) await books.db.tx((db) => openOwnerAccount(books, db, owner))
  for (let step = 0; step < steps; step++) {
    const act = acts[draw(acts.length)] ?? granting
    await act(books, model, draw, step)
    await compare(books, model)
  }
  expect(model.open.length).toBeLessThan(steps)
  expect<bigint>(await spentToday(books, 'ak_1')).toBe(model.used)
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
}, 60_000)
