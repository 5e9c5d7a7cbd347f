import type { NanoUsd } from '../../core/money.ts'
import type { Hold } from '../../ledger/holds.ts'
import { promptTokensOf } from '../../models/tokens.ts'
import { Bill, type Order } from '../paid/bill.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { Fitted } from './asked.ts'
import { type Bounds, Carried } from './carried.ts'
import type { Searching } from './search/searching.ts'
import { limitsOf, outputToTell } from './worst.ts'

/** A chat request that may run: read, and fitted to its models. */
export interface ChatOrder extends Order {
  asked: Fitted
  /** What was paid for the sounds that were heard for it: a part of the cost that is told. */
  heard: NanoUsd
  /** The rounds of a request that searches the web, with who serves it now. */
  searching?: Searching
}

/** What a request may use at the model that serves it. */
export const boundsOf = ({ asked, searching }: ChatOrder, { model }: Candidate): Bounds => ({
  limits: limitsOf(asked, model),
  choices: asked.choices,
  searching,
  countPrompt: () => promptTokensOf(asked.body, model.pictureTokens),
})

/** What goes to the upstream of a chat request, beside how its answer is read. */
export const sendingOf = ({ asked }: ChatOrder) => ({
  path: '/chat/completions' as const,
  body: asked.body,
  outputMost: ({ model }: Candidate) => outputToTell(asked, model),
})

/** A chat that failed and is charged has used its prompt. */
export const billOf = (order: ChatOrder, hold: Hold): Bill =>
  new Bill(order, hold, (by) => new Carried(boundsOf(order, by)).usage(false))
