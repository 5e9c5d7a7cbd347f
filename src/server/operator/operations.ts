import { Type } from '@sinclair/typebox'

import { feature, unfeature } from '../../apps/explore/explore.ts'
import { errorEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { accepted, created } from '../../kernel/http/outcome.ts'
import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { lookUp, nullable, oneOf, strictObject } from '../../kernel/schema.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { operator } from '../../people/session-user.ts'
import { sendTestAlert } from './alerts.ts'
import { itemAudienceOperations } from './audience-operations.ts'
import * as backups from './console-backups.ts'
import { applyDecision, decisionNames } from './decisions.ts'
import { creditsOf, grantCredits, readGrant } from './grants.ts'
import { libraryOperations } from './library-operations.ts'
import { readModelPrice } from './model-prices.ts'
import * as providers from './providers.ts'
import * as settings from './settings.ts'
import { creditUnmatched } from './topups.ts'

const DecisionRequestSchema = strictObject({
  decision: oneOf(decisionNames),
  item: Type.String({
    maxLength: 200,
    description: 'What it is about: an app, "@handle", a person, a client or a page.',
  }),
  why: Type.Optional(
    Type.String({ maxLength: decisionReasonCharsMax, description: 'The reason.' }),
  ),
  own: Type.Optional(
    Type.Boolean({ description: 'Confirms a restriction of your own network or account.' }),
  ),
})

const SettingRequestSchema = strictObject({
  value: Type.String({ maxLength: 10_000, description: 'As in the environment.' }),
})

const ProviderRequestSchema = strictObject({
  key: Type.String({
    minLength: 8,
    maxLength: 500,
    pattern: '^[!-~]+$',
    description: 'An API key of the provider.',
  }),
})
const ProviderResponseSchema = Type.Object({
  models: Type.Integer({ description: 'The models that it serves here.' }),
  tested: nullable(Type.String({ description: 'The model that answered one short call.' })),
})

const ModelRequestSchema = strictObject({
  model: Type.String({ maxLength: 200 }),
  on: Type.Boolean(),
})

const ModelPriceRequestSchema = strictObject({
  model: Type.String({ maxLength: 200 }),
  price: nullable(
    Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 40 }), {
      description: 'USD by part, such as {"prompt": "0.25"}; null: the price of the list.',
    }),
  ),
})

const CreditPaymentRequestSchema = strictObject({
  payment: Type.String({ maxLength: 200, description: 'An unmatched payment.' }),
  invoice: Type.String({ maxLength: 200, description: 'The invoice that it pays.' }),
})

const GrantRequestSchema = strictObject({
  to: Type.String({ maxLength: 120, description: '"@handle", a person or a gateway account.' }),
  usd: Type.String({ maxLength: 20, description: 'USD as a text: "0.25".' }),
})
const GrantResponseSchema = Type.Object({ to: Type.String(), credits: Type.Number() })

const operation = operationsOf('Operator')

export const decide = operation({
  id: 'decide',
  route: 'POST /operator/decisions',
  onFullDisk: 'allow',
  summary: 'Decide about an app, an agent, a person, a client or a page.',
  description: 'The decision is in the audit log. A reason reaches the person or agent concerned.',
  access: operator,
  input: { body: DecisionRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, body, client }) {
    const own = [`address:${client.prefix}`, `account:person:${caller.id}`]
    const isOwn = body.decision !== 'allow' && own.includes(body.item)
    if (isOwn && !body.own) {
      rejectRequest('This is your own network or account. Confirm it on this page.')
    }
    await applyDecision(ctx, { why: '', ...body, by: caller.name })
    return done
  },
})

export const featureItem = operation({
  id: 'feature_item',
  route: 'PUT /operator/featured/:id',
  summary: 'Show an item on the home page, first.',
  access: operator,
  output: { 200: DoneSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    await feature(ctx, params.id, caller.name)
    return done
  },
})

export const unfeatureItem = operation({
  id: 'unfeature_item',
  route: 'DELETE /operator/featured/:id',
  summary: 'Remove an item from the home page.',
  access: operator,
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, params }) {
    await unfeature(ctx, params.id, caller.name)
    return done
  },
})

export const changeSetting = operation({
  id: 'change_setting',
  route: 'PUT /operator/settings/:name',
  summary: 'Change a setting from now on, on all servers.',
  access: operator,
  input: { body: SettingRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { name }, body: { value } }) {
    await settings.changeSetting(ctx, { name, value, by: caller.name })
    return done
  },
})

export const connectProvider = operation({
  id: 'connect_provider',
  route: 'PUT /operator/providers/:name',
  summary: 'Test the key of a provider with one cheap call, and serve its models.',
  access: operator,
  input: { body: ProviderRequestSchema },
  output: { 200: ProviderResponseSchema },
  errors: writeErrors,
  run: (ctx, { caller, params: { name }, body: { key } }) =>
    providers.connectProvider(ctx, { name, key, by: caller.name }),
})

export const resetSetting = operation({
  id: 'reset_setting',
  route: 'DELETE /operator/settings/:name',
  summary: 'Restore the default of a setting.',
  access: operator,
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { name } }) {
    await settings.changeSetting(ctx, { name, value: null, by: caller.name })
    return done
  },
})

export const undoSetting = operation({
  id: 'undo_setting',
  route: 'POST /operator/settings/:name/undo',
  onFullDisk: 'allow',
  summary: 'Restore the value of a setting before its last change.',
  access: operator,
  input: { body: 'none' },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { name } }) {
    const row = ctx.config.rows.find((one) => one.name === name)
    if (!row) throw new ApiError('not_found', { what: 'setting' })
    const before = ctx.settings.find(row.name)?.before ?? null
    const value = await ctx.settings.fromStored(row.name, before)
    await settings.changeSetting(ctx, { name, value, by: caller.name })
    return done
  },
})

export const switchModel = operation({
  id: 'switch_model',
  route: 'PUT /operator/models',
  summary: 'Turn a model on or off.',
  access: operator,
  input: { body: ModelRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, body: { model: id, on: isOn } }) {
    const known = [...ctx.catalog.list(), ...ctx.catalog.listOff()]
    if (!known.some((model) => model.id === id)) throw new ApiError('not_found', { what: 'model' })
    await settings.switchModel(ctx, { id, isOn, by: caller.name })
    return done
  },
})

export const changeModelPrice = operation({
  id: 'change_model_price',
  route: 'PUT /operator/models/price',
  summary: 'Set the price of a model, or restore that of the list.',
  access: operator,
  input: { body: ModelPriceRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, body: { model, price } }) {
    const change = { id: model, price: readModelPrice(ctx, model, price), by: caller.name }
    await settings.changeModelPrice(ctx, change)
    return done
  },
})

export const creditPayment = operation({
  id: 'credit_payment',
  route: 'POST /operator/payments',
  summary: 'Credit a payment that no invoice expected.',
  access: operator,
  input: { body: CreditPaymentRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, body }) {
    const isDone = await creditUnmatched(ctx, body, caller.name).catch((error: unknown) => {
      if (isGatewayError(error)) rejectRequest(errorEnvelope(error).body.error.message)
      throw error
    })
    if (!isDone)
      rejectRequest('Nothing changed: this payment was credited before. Reload the page.')
    return done
  },
})

export const giveCredits = operation({
  id: 'give_credits',
  route: 'POST /operator/grants',
  idempotent: true,
  summary: 'Create credits for an agent, a person or a gateway account.',
  access: operator,
  input: { body: GrantRequestSchema },
  output: { 201: GrantResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller, body, ref }) {
    const { grantee, amount } = await readGrant(ctx, body)
    await grantCredits(ctx, grantee, { amount, by: caller.name, ...(ref !== undefined && { ref }) })
    return created({ to: grantee.name, credits: await creditsOf(ctx, grantee) })
  },
})

export const testAlert = operation({
  id: 'test_alert',
  route: 'POST /operator/alerts/test',
  onFullDisk: 'allow',
  summary: 'Send a test to the receiver of alerts.',
  access: operator,
  input: { body: 'none' },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx) {
    if (ctx.config.alertWebhookUrl === '') rejectRequest('Set ALERT_WEBHOOK_URL first.')
    const problem = await sendTestAlert(ctx)
    if (problem === null) return done
    rejectRequest(
      `The test was not delivered: ${lookUp(undelivered, problem) ?? problem}. Check ALERT_WEBHOOK_URL.`,
    )
  },
})

const undelivered: Record<string, string> = {
  inside: 'the address is private; HOOKS_TO_PRIVATE allows that',
  address: 'the address is not http or https',
  redirects: 'the receiver redirects',
}

export const startBackup = operation({
  id: 'start_backup',
  route: 'POST /operator/backups',
  summary: 'Start a backup into the data folder.',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  async run(ctx, { caller }) {
    await backups.startBackup(ctx, caller.name)
    return accepted(done)
  },
})

export const checkBackup = operation({
  id: 'check_backup',
  route: 'POST /operator/backups/:name/check',
  onFullDisk: 'allow',
  summary: 'Start to verify a backup.',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  run(ctx, { params }) {
    backups.startBackupCheck(ctx, params.name)
    return accepted(done)
  },
})

export const restoreBackup = operation({
  id: 'restore_backup',
  route: 'POST /operator/backups/:name/restore',
  onFullDisk: 'allow',
  summary: 'Start to restore a backup, or the newest encrypted one: "newest".',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  run(ctx, { caller, params }) {
    backups.startRestore(ctx, params.name, caller.name)
    return accepted(done)
  },
})

export const removeBackup = operation({
  id: 'remove_backup',
  route: 'DELETE /operator/backups/:name',
  summary: 'Remove a backup.',
  access: operator,
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'busy'],
  async run(ctx, { caller, params }) {
    await backups.removeBackup(ctx, params.name, caller.name)
    return done
  },
})

/** The actions of the operator in the console. */
export const operatorOperations = [
  decide,
  featureItem,
  unfeatureItem,
  ...itemAudienceOperations,
  changeSetting,
  connectProvider,
  resetSetting,
  undoSetting,
  switchModel,
  changeModelPrice,
  ...libraryOperations,
  creditPayment,
  giveCredits,
  testAlert,
  startBackup,
  checkBackup,
  restoreBackup,
  removeBackup,
]
