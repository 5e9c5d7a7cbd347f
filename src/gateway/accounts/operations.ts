import { Type } from '@sinclair/typebox'

import { ApiError } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { toUsd } from '../../kernel/money.ts'
import { requireInvitation } from '../../money/keys/keys.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { anyone, key } from '../authentication.ts'
import { operationsOf } from '../operation.ts'
import * as accounts from './accounts.ts'
import * as keys from './keys.ts'
import * as projects from './projects.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Account')

const createAccount = operation({
  id: 'create_account',
  route: 'POST /accounts/create',
  limits: ['keys_address_limit'],
  summary: 'Create an account and its API key.',
  description:
    'Requires no body and no API key. The response shows the new key once. The balance starts at 0.',
  access: anyone,
  output: { 200: schemas.AccountSchema },
  errors: ['too_large', 'bad_request', 'invite_only', 'try_again'],
  async run(ctx, { headers, client }) {
    requireInvitation(ctx.config, headers)
    const { account, keyText } = await accounts.create(ctx, client.group)
    return { credit_id: account.id, api_key: keyText }
  },
})

const getBalance = operation({
  id: 'get_balance',
  route: 'POST /credits/balance',
  onFullDisk: 'allow',
  summary: 'Get the balance of your account, in USD.',
  access: key,
  input: { body: Type.Optional(schemas.BalanceRequestSchema) },
  output: { 200: schemas.BalanceSchema },
  errors: ['too_large', 'bad_request', 'not_found'],
  async run(ctx, { caller: { owner }, body }) {
    const credit_id = owner.owner
    if (body?.credit_id !== undefined && body.credit_id !== credit_id) {
      throw new ApiError('not_found', { what: 'account', see: 'Leave out "credit_id".' })
    }
    const { balance, held, available } = await ledger.balanceOf(ctx, owner)
    return {
      balance: toUsd(balance),
      held: toUsd(held),
      available: toUsd(available),
      currency: 'USDT' as const,
      credit_id,
    }
  },
})

const listKeys = operation({
  id: 'list_keys',
  route: 'GET /accounts/keys',
  summary: 'List the API keys of your account.',
  access: key,
  output: { 200: schemas.KeyListSchema },
  run: async (ctx, { caller: spender }) => ({ data: await keys.list(ctx, spender) }),
})

const addKey = operation({
  id: 'add_key',
  route: 'POST /accounts/keys',
  summary: 'Create an API key with its own limits.',
  description: 'The default and maximum of each limit is that of the calling key.',
  access: key,
  input: { body: Type.Optional(schemas.KeyRequestSchema) },
  output: { 201: schemas.NewKeySchema },
  errors: ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
  run: async (ctx, { caller: spender, body }) => created(await keys.add(ctx, spender, body ?? {})),
})

const changeKey = operation({
  id: 'change_key',
  route: 'PATCH /accounts/keys/:id',
  summary: 'Change the name and the limits of an API key.',
  access: key,
  input: { body: schemas.KeyRequestSchema },
  output: { 200: schemas.KeySchema },
  errors: ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
  run: (ctx, { caller: spender, params, body }) => keys.edit(ctx, spender, params.id, body),
})

const rotateKey = operation({
  id: 'rotate_key',
  route: 'POST /accounts/keys/:id/rotate',
  summary: 'Replace an API key by a new one with the same settings.',
  description:
    'The old key still works for the overlap. Both share their spending, so no budget starts again.',
  access: key,
  input: { body: Type.Optional(schemas.RotateRequestSchema) },
  output: { 201: schemas.NewKeySchema },
  errors: ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
  run: async (ctx, { caller: spender, params, body }) =>
    created(await keys.rotate(ctx, spender, params.id, body ?? {})),
})

const revokeKey = operation({
  id: 'revoke_key',
  route: 'DELETE /accounts/keys/:id',
  summary: 'Revoke an API key, except the last one.',
  access: key,
  output: { 200: schemas.DeletedKeySchema },
  errors: ['bad_request', 'too_large', 'not_found', 'last_key', 'try_again'],
  async run(ctx, { caller: spender, params }) {
    await keys.revoke(ctx, spender, params.id)
    return { id: params.id, deleted: true as const }
  },
})

/** Routes of accounts, balances and API keys (document 2, sections 2 and 4). */
export const accountOperations = [
  createAccount,
  getBalance,
  listKeys,
  addKey,
  changeKey,
  rotateKey,
  revokeKey,
]

const errors = ['too_large', 'bad_request', 'key_above_own', 'try_again'] as const

const listProjects = operation({
  id: 'list_projects',
  route: 'GET /accounts/projects',
  summary: 'List projects and their spending.',
  access: key,
  output: { 200: schemas.ProjectListSchema },
  run: async (ctx, { caller: spender }) => ({ data: await projects.list(ctx, spender) }),
})

const addProject = operation({
  id: 'add_project',
  route: 'POST /accounts/projects',
  summary: 'Create a project: a group of keys with budgets.',
  description: 'Its keys spend the balance of the account, together within its budgets.',
  access: key,
  input: { body: schemas.NewProjectSchema },
  output: { 201: schemas.ProjectSchema },
  errors: errors,
  run: async (ctx, { caller: spender, body }) => created(await projects.add(ctx, spender, body)),
})

const changeProject = operation({
  id: 'change_project',
  route: 'PATCH /accounts/projects/:id',
  summary: 'Change a project.',
  access: key,
  input: { body: schemas.ProjectRequestSchema },
  output: { 200: schemas.ProjectSchema },
  errors: [...errors, 'not_found'],
  run: (ctx, { caller: spender, params, body }) => projects.edit(ctx, spender, params.id, body),
})

const deleteProject = operation({
  id: 'delete_project',
  route: 'DELETE /accounts/projects/:id',
  summary: 'Delete a project.',
  description: 'Its keys stay, without its budgets.',
  access: key,
  output: { 200: schemas.DeletedProjectSchema },
  errors: [...errors, 'not_found'],
  async run(ctx, { caller: spender, params }) {
    await projects.remove(ctx, spender, params.id)
    return { id: params.id, deleted: true as const }
  },
})

/** Routes of projects: groups of an account's keys with budgets of their own. */
export const projectOperations = [listProjects, addProject, changeProject, deleteProject]
