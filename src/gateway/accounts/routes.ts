import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { toUsd } from '../../core/money.ts'
import { ApiError } from '../../errors.ts'
import { clientAddressGroup } from '../../http/request-context.ts'
import { requireInvitation } from '../../keys/request-key.ts'
import * as ledger from '../../ledger/ledger.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation, publicOperation } from '../operation.ts'
import * as accounts from './accounts.ts'
import * as keys from './keys.ts'
import * as schemas from './schemas.ts'

/** Routes of accounts, balances and API keys (document 2, sections 2 and 4). */
export const accountRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/accounts/create',
      async ({ request }) => {
        requireInvitation(ctx.config, request)
        const { account, keyText } = await accounts.create(ctx, clientAddressGroup(request))
        return { credit_id: account.id, api_key: keyText }
      },
      publicOperation(
        {
          id: 'create_account',
          tag: 'Account',
          limits: ['keys_address_limit'],
          summary: 'Create an account and its API key.',
          description:
            'Requires no body and no API key. The response shows the new key once. The balance starts at 0.',
        },
        { 200: schemas.AccountSchema },
        ['too_large', 'bad_request', 'invite_only', 'try_again'],
      ),
    )
    .post(
      '/credits/balance',
      async ({ spender: { owner }, body }) => {
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
      {
        body: Type.Optional(schemas.BalanceRequestSchema),
        ...keyOperation(
          {
            id: 'get_balance',
            tag: 'Account',
            onFullDisk: 'allow',
            summary: 'Get the balance of your account, in USD.',
          },
          { 200: schemas.BalanceSchema },
          ['too_large', 'bad_request', 'not_found'],
        ),
      },
    )
    .get(
      '/accounts/keys',
      async ({ spender }) => ({ data: await keys.list(ctx, spender) }),
      keyOperation(
        { id: 'list_keys', tag: 'Account', summary: 'List the API keys of your account.' },
        { 200: schemas.KeyListSchema },
      ),
    )
    .post(
      '/accounts/keys',
      async ({ spender, body, status }) => status(201, await keys.add(ctx, spender, body ?? {})),
      {
        body: Type.Optional(schemas.KeyRequestSchema),
        ...keyOperation(
          {
            id: 'add_key',
            tag: 'Account',
            summary: 'Create an API key with its own limits.',
            description: 'The default and maximum of each limit is that of the calling key.',
          },
          { 201: schemas.NewKeySchema },
          ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
        ),
      },
    )
    .patch(
      '/accounts/keys/:id',
      ({ spender, params, body }) => keys.edit(ctx, spender, params.id, body),
      {
        body: schemas.KeyRequestSchema,
        ...keyOperation(
          {
            id: 'change_key',
            tag: 'Account',
            summary: 'Change the name and the limits of an API key.',
          },
          { 200: schemas.KeySchema },
          ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
        ),
      },
    )
    .post(
      '/accounts/keys/:id/rotate',
      async ({ spender, params, body, status }) =>
        status(201, await keys.rotate(ctx, spender, params.id, body ?? {})),
      {
        body: Type.Optional(schemas.RotateRequestSchema),
        ...keyOperation(
          {
            id: 'rotate_key',
            tag: 'Account',
            summary: 'Replace an API key by a new one with the same settings.',
            description:
              'The old key still works for the overlap. Both share their spending, so no budget starts again.',
          },
          { 201: schemas.NewKeySchema },
          ['too_large', 'bad_request', 'cap_above_own', 'key_above_own', 'not_found', 'try_again'],
        ),
      },
    )
    .delete(
      '/accounts/keys/:id',
      async ({ spender, params }) => {
        await keys.revoke(ctx, spender, params.id)
        return { id: params.id, deleted: true as const }
      },
      keyOperation(
        { id: 'revoke_key', tag: 'Account', summary: 'Revoke an API key, except the last one.' },
        { 200: schemas.DeletedKeySchema },
        ['bad_request', 'too_large', 'not_found', 'last_key', 'try_again'],
      ),
    )
