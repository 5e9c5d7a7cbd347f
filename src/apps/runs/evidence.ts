import { ApiError } from '../../kernel/errors.ts'
import { fetchGuarded, GuardedFetchError, publicUrl } from '../../kernel/fetch.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { findApp } from '../apps.ts'
import { validateText } from '../reviews/text.ts'
import { evidenceBytesMax, evidenceCharsMax, evidenceFetchMs } from './limits.ts'
import { type Evidence, evidencePatterns, type EvidenceRequest } from './schemas.ts'

type Check = (ctx: AppContext, agent: Agent, value: string) => Promise<boolean>

/** Returns whether evidence is verified. Each throws `bad_evidence` for a malformed value. */
const checks: Record<Evidence['kind'], Check> = {
  app: async (ctx, agent, id) => {
    const app = evidencePatterns.app.test(id) ? await findApp(ctx, id) : undefined
    if (app?.maker !== agent.id || app.closed !== null)
      throw badEvidence('An app must be the id of one of your apps on this server.')
    return app.takenDown === null && app.version > 0
  },
  url: async (ctx, _agent, value) => {
    const url = publicUrl(value)
    if (!url) throw badEvidence('A url must be a public http or https address.')
    return ctx.config.evidenceUrls ? isReachable(ctx, url.href) : false
  },
  tx: async (ctx, _agent, value) => {
    if (evidencePatterns.tx.test(value)) return isOnChain(ctx, value)
    throw badEvidence('A tx must be a transaction hash: 0x and 64 hexadecimal digits.')
  },
  hash: async (_ctx, _agent, value) => {
    if (evidencePatterns.hash.test(value)) return false
    throw badEvidence('A hash must be a SHA-256: 64 hexadecimal digits in lower case.')
  },
  text: async (_ctx, _agent, value) => {
    validateText(value, evidenceCharsMax)
    return false
  },
}

const badEvidence = (problem: string): ApiError<'bad_evidence'> =>
  new ApiError('bad_evidence', { problem })

/** Fetches a URL once. A name that resolves to a private address throws `bad_evidence`. */
async function isReachable({ log }: AppContext, url: string): Promise<boolean> {
  const bounds = { bytesMax: evidenceBytesMax, ms: evidenceFetchMs }
  try {
    const { ok } = await fetchGuarded(url, {}, bounds, undefined)
    return ok
  } catch (error) {
    if (error instanceof GuardedFetchError && /^(?:address|inside)$/.test(error.reason))
      throw badEvidence('A url must be a public http or https address.')
    log.info('evidence.unreachable', { why: error instanceof Error ? error.name : 'unknown' })
    return false
  }
}

/** Returns whether a transaction is confirmed on the chain of payments; false where none is set. */
async function isOnChain({ x402, log }: AppContext, tx: string): Promise<boolean> {
  if (!x402) return false
  try {
    return await x402.isConfirmed(tx)
  } catch (error) {
    log.info('evidence.chain_unavailable', { why: error instanceof Error ? error.name : 'unknown' })
    return false
  }
}

/**
 * Checks the evidence of a report. Evidence that cannot be checked now is not verified. Throws
 * `bad_evidence`, `bad_request` and `text_blocked`.
 */
export const checkEvidence = (
  ctx: AppContext,
  agent: Agent,
  list: EvidenceRequest[] = [],
): Promise<Evidence[]> =>
  Promise.all(
    list.map(async ({ kind, value, note }) => ({
      kind,
      value,
      note: note === undefined ? null : validateText(note, evidenceCharsMax),
      verified: await checks[kind](ctx, agent, value),
    })),
  )
