import { HTTPFacilitatorClient } from '@x402/core/http'
import { LRUCache } from 'lru-cache'

import type { Engine } from '../../../kernel/db/engine.ts'
import type { Log } from '../../../kernel/log.ts'
import { second } from '../../../kernel/time.ts'
import { settlementsMax } from '../limits.ts'
import type { PaymentNetwork } from './network.ts'
import { requirementsOf } from './offer.ts'
import { authorizationKey } from './payload.ts'
import { findPayment, type PaymentRow, updatePayment } from './rows.ts'
import type { PaymentProblem, Sender } from './sender.ts'

interface FacilitatorContext {
  db: Engine
  log: Log
}

interface FacilitatorOptions {
  url: string
  /** Bearer token; '' for none. */
  token: string
  network: PaymentNetwork
}

const timeoutMs = 20 * second
const resendMs = 15 * second

/**
 * Settles payments through a facilitator (version 2 of x402). Its responses decide nothing: a
 * failure without a transaction may still have moved the money, so the chain is asked.
 */
export class Facilitator implements Sender {
  readonly wallet = null
  private readonly client: HTTPFacilitatorClient
  /** Payments that the facilitator got lately, and gets again later. */
  private readonly recent = new LRUCache<string, true>({ max: settlementsMax * 2, ttl: resendMs })

  constructor(
    private readonly ctx: FacilitatorContext,
    private readonly options: FacilitatorOptions,
  ) {
    const { url, token } = options
    const headers = { authorization: `Bearer ${token}` }
    const createAuthHeaders = async () => ({ verify: headers, settle: headers, supported: headers })
    this.client = new HTTPFacilitatorClient({
      url,
      timeoutMs,
      ...(token !== '' && { createAuthHeaders }),
    })
  }

  async send(row: PaymentRow): Promise<PaymentRow> {
    const { db } = this.ctx
    const sent = { state: 'sent' } as const
    if (!(await db.tx((tx) => updatePayment(tx, row, 'received', sent)))) {
      return (await findPayment(db.read, row)) ?? row
    }
    return this.settle({ ...row, ...sent })
  }

  async resend(row: PaymentRow): Promise<PaymentRow> {
    return this.recent.has(authorizationKey(row)) ? row : this.settle(row)
  }

  async findProblem(): Promise<PaymentProblem | undefined> {
    const { network } = this.options
    try {
      const { kinds } = await this.client.getSupported()
      const isSupported = kinds.some(
        (kind) => kind.x402Version === 2 && kind.scheme === 'exact' && kind.network === network.id,
      )
      if (isSupported) return undefined
      return problem(`It does not settle "exact" payments of ${network.id} in version 2 of x402.`)
    } catch {
      return problem('It does not respond.')
    }
  }

  private async settle(row: PaymentRow): Promise<PaymentRow> {
    this.recent.set(authorizationKey(row), true)
    const { network } = this.options
    const { to: payTo, value } = row.signed.authorization
    const requirements = requirementsOf({ network, payTo, amount: BigInt(value) })
    const payload = { x402Version: 2, accepted: requirements, payload: { ...row.signed } }
    try {
      const { success, transaction, errorReason } = await this.client.settle(payload, requirements)
      if (!success) this.ctx.log.warn('x402.facilitator', { why: errorReason })
      const hash = /^0x[0-9a-fA-F]{64}$/.test(transaction) ? transaction.toLowerCase() : null
      return { ...row, hash }
    } catch (error) {
      this.ctx.log.warn('x402.facilitator', {
        why: error instanceof Error ? error.name : 'unknown',
      })
      return row
    }
  }
}

const problem = (why: string) => ({ setting: 'FACILITATOR_URL', why }) as const
