import { rejectRequest } from '../../kernel/errors.ts'
import { iso } from '../../kernel/time.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { shareDueMs } from './limits.ts'
import type { Run } from './runs.ts'
import type { ReportRequest } from './schemas.ts'
import { dueUnits, formatUnits, nonceText, shareBase } from './share-terms.ts'

type ShareFields = Pick<Run, 'state'> & Partial<Pick<Run, 'shareDue' | 'shareVerdict' | 'dueBy'>>

/**
 * Returns the state of a reported run and the share that is due. A maker owes no share to itself.
 * Throws `bad_request` for a report without the amount that the share is of.
 */
export async function findShareDue(
  ctx: AppContext,
  agent: Agent,
  { id, pack, share, maker: makerId }: Run,
  report: ReportRequest,
): Promise<ShareFields> {
  if (!share) return { state: 'reported' }
  const { money, problem } = shareBase(share, report)
  if (problem !== undefined) rejectRequest(problem, share.of)
  const units = money ? dueUnits(money, share.percent) : 0n
  const maker = await findAgent(ctx, makerId)
  const isOwn = maker?.id === agent.id || (agent.owner !== null && maker?.owner === agent.owner)
  if (units === 0n || isOwn) return { state: 'settled' }
  // The hash of Ethereum is loaded with the first share that is due.
  const { keccak256, toBytes } = await import('viem')
  const dueBy = ctx.clock.now() + shareDueMs
  const { payTo, network, asset } = share
  const nonce = keccak256(toBytes(nonceText(pack, id)))
  const shareDue = { amount: formatUnits(units), asset, network, payTo, nonce, dueBy: iso(dueBy) }
  return { state: 'share_due', shareDue, shareVerdict: 'no_proof', dueBy }
}
