import type { AppContext } from '../../kernel/context.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { sumSpendingSince } from '../../money/ledger/caps.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import type { KeySpender } from '../authentication.ts'
import { totalCharged } from '../models/spending.ts'
import type { CreditsResponse, KeyResponse } from './schemas.ts'

/** Returns the calling key with its spending in USD (OpenRouter, GET /key). Days are in UTC. */
export async function describeKey(ctx: AppContext, { key, cap }: KeySpender): Promise<KeyResponse> {
  const since = (ago: number) =>
    sumSpendingSince(ctx.db.read, cap.key, utcDay(ctx.clock.now() - ago * day))
  const [total, today, week, month] = await Promise.all([
    sumSpendingSince(ctx.db.read, cap.key, ''),
    since(0),
    since(6),
    since(29),
  ])
  const left = (max: NanoUsd): number => toUsd(max > today ? max - today : 0n)
  return {
    data: {
      label: key.name || key.prefix,
      limit: cap.max === null ? null : toUsd(cap.max),
      limit_remaining: cap.max === null ? null : left(cap.max),
      limit_reset: cap.max === null ? null : 'daily',
      usage: toUsd(total),
      usage_daily: toUsd(today),
      usage_weekly: toUsd(week),
      usage_monthly: toUsd(month),
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      allowed_data_regions: ['global'],
      creator_user_id: null,
      organization_id: null,
      workspace_id: null,
      free_model_daily_requests: { limit: 0, used: 0, remaining: 0 },
      rate_limit: {
        requests: ctx.state.limits.gatewayRequests.max,
        interval: '60s',
        note: 'Requests per minute from one address; 0 is no limit.',
      },
    },
  }
}

/**
 * Returns the funds of the account in USD (OpenRouter, GET /credits): what its model calls have
 * cost, and the sum of that and the available balance.
 */
export async function describeCredits(
  ctx: AppContext,
  { owner, account }: KeySpender,
): Promise<CreditsResponse> {
  const [{ available }, used] = await Promise.all([
    balanceOf(ctx, owner),
    totalCharged(ctx.db, account),
  ])
  return { data: { total_credits: toUsd(available + used), total_usage: toUsd(used) } }
}
