import { Type } from '@sinclair/typebox'

import { readKeySettings } from '../../gateway/accounts/key-settings.ts'
import { KeyRequestSchema } from '../../gateway/accounts/schemas.ts'
import {
  InvoiceSchema,
  parseTopupAmount,
  presentInvoice,
} from '../../gateway/accounts/topup-operations.ts'
import { errorEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { keyNameCharsMax } from '../../kernel/limits.ts'
import { lineSchema, nullable, oneOf, sixDecimals, strictObject } from '../../kernel/schema.ts'
import { noSettings } from '../../money/keys/keys.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { createInvoice } from '../../money/payments/coins/invoices.ts'
import { methods } from '../../money/payments/coins/method.ts'
import * as keys from '../../people/keys.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { walletOf } from '../../people/people.ts'
import {
  CreateKeyResponseSchema,
  done,
  DoneSchema,
  RevokeKeyResponseSchema,
} from '../../people/schemas.ts'
import { person } from '../../people/session-user.ts'

const operation = operationsOf('People')

const NewKeySchema = strictObject({
  name: Type.Optional(lineSchema(keyNameCharsMax, { minLength: 1 })),
  dailyCap: Type.Optional(
    nullable(
      Type.Number({ minimum: 0, ...sixDecimals, description: 'Credits a day; null: no cap.' }),
    ),
  ),
})

export const addWalletKey = operation({
  id: 'add_wallet_key',
  route: 'POST /people/me/wallet/keys',
  idempotent: true,
  summary: 'Create a gateway key that spends from your wallet.',
  access: person,
  input: { body: Type.Optional(NewKeySchema) },
  output: { 201: CreateKeyResponseSchema },
  errors: writeErrors,
  run: async (ctx, { caller, body: { name = '', dailyCap } = {}, ref }) =>
    created(
      await keys.createOnce(ctx, caller.id, ref, () =>
        keys.create(ctx, caller, 'gateway', name, dailyCap),
      ),
    ),
})

const KeySettingsSchema = strictObject(KeyRequestSchema.properties)

export const changeWalletKey = operation({
  id: 'change_wallet_key',
  route: 'PATCH /people/me/wallet/keys/:prefix',
  summary: 'Change the name and the limits of a gateway key of your wallet.',
  access: person,
  input: { body: KeySettingsSchema },
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params, body: { name, ...limits } }) {
    const settings = readKeySettings(noSettings, limits, ctx.clock.now())
    const changes = { ...settings, ...(name !== undefined && { name }) }
    await keys.changeGatewayKey(ctx, caller, params.prefix, changes)
    return done
  },
})

export const revokeWalletKey = operation({
  id: 'revoke_wallet_key',
  route: 'DELETE /people/me/wallet/keys/:prefix',
  summary: 'Revoke a gateway key of your wallet.',
  access: person,
  output: { 200: RevokeKeyResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params: { prefix } }) {
    await keys.revoke(ctx, caller, 'gateway', prefix)
    return { prefix, revoked: true as const }
  },
})

const AddMoneySchema = strictObject({
  amount: Type.Number({ minimum: 0, maximum: 1_000_000_000, description: 'USD.' }),
  method: oneOf(methods),
})

const coinErrors = new Set<string>(['no_rate', 'topups_limit', 'payments_off'])

export const addMoney = operation({
  id: 'add_money',
  route: 'POST /people/me/wallet/topups',
  summary: 'Create a crypto top-up of your wallet.',
  access: person,
  input: { body: AddMoneySchema },
  output: { 201: InvoiceSchema },
  errors: writeErrors,
  async run(ctx, { caller, body: { amount, method } }) {
    const account = accountOf(walletOf(caller))
    const request = { account, method, amount: parseTopupAmount(ctx, amount) }
    const invoice = await createInvoice(ctx, request).catch((error: unknown) => {
      // The Agent API has no errors of coins.
      if (isGatewayError(error) && coinErrors.has(error.errorName)) {
        rejectRequest(errorEnvelope(error).body.error.message)
      }
      throw error
    })
    return created(presentInvoice(invoice))
  },
})

/** The wallet of a person: its gateway keys and its top-ups (document 1, section 1, People). */
export const walletOperations = [addWalletKey, changeWalletKey, revokeWalletKey, addMoney]
