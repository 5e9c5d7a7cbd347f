import type { SettingName } from '../../../kernel/config/settings.ts'
import type { PaymentRow } from './rows.ts'

/** The setting that the operator has to check before payments can be settled, and the reason. */
export interface PaymentProblem {
  setting: SettingName
  why: string
}

/** Brings authorizations to the chain: the server's own gas wallet, or a facilitator. */
export interface Sender {
  /** The address of the own gas wallet in lower case; null for a facilitator. */
  readonly wallet: string | null
  /**
   * Sends a payment that was received, and stores it as sent before that. Returns the stored
   * payment; unchanged while it has to wait.
   */
  send(row: PaymentRow): Promise<PaymentRow>
  /** Sends a payment again that was sent and is not on the chain. Returns the stored payment. */
  resend(row: PaymentRow): Promise<PaymentRow>
  /** Returns the problem for which nothing can be sent now. */
  findProblem(): Promise<PaymentProblem | undefined>
}
