import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ApiError } from '../../kernel/errors.ts'
import { anyNetwork, fetchGuarded } from '../../kernel/fetch.ts'
import { oneOf } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import type { ContentFinding, ContentInspection } from '../content-scan.ts'
import { getRule } from '../scan/rules.ts'

const bounds = { bytesMax: 65_536, ms: 10 * second, redirectsMax: 0 }
const reasonsMax = 10
const reasonCharsMax = 300

/** Response of the hook. `warn` allows hosting and excludes the page from Explore. */
const VerdictSchema = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  reasons: Type.Optional(Type.Array(Type.String())),
})

const rules = { warn: 'outside.warn', block: 'outside.block' } as const

/**
 * Posts content with its type and hash to SCAN_HOOK_URL. The verdict is `clean` without a hook.
 * Throws `try_again` when the hook fails or takes over 10 s.
 */
export async function callScanHook(
  { config, log }: Pick<AppContext, 'config' | 'log'>,
  { type, sha256, body }: { type: string; sha256: string; body: Uint8Array<ArrayBuffer> },
): Promise<typeof VerdictSchema.static> {
  if (config.scanHookUrl === '') return { verdict: 'clean' }
  const headers = { 'content-type': type, 'x-content-sha256': sha256 }
  const init = { method: 'POST', headers, body }
  const result: unknown = await fetchGuarded(
    config.scanHookUrl,
    init,
    bounds,
    undefined,
    anyNetwork,
  )
    .then((response) => (response.ok ? response.json() : `status ${response.status}`))
    .catch((error: unknown) => String(error))
  if (Value.Check(VerdictSchema, result)) return result
  log.warn('scan.hook', {
    why: typeof result === 'string' ? result : 'the response has no verdict',
  })
  throw new ApiError('try_again', { why: 'the external safety check is unavailable' })
}

/** Returns the verdict of the hook on content of a media type as findings. Throws `try_again`. */
export const findHookFindings = async (
  ctx: Pick<AppContext, 'config' | 'log'>,
  { identity, sha256 }: Pick<ContentInspection, 'identity' | 'sha256'>,
  type: string,
): Promise<ContentFinding[]> =>
  findingsOf(await callScanHook(ctx, { type, sha256, body: identity }))

function findingsOf({ verdict, reasons = [] }: typeof VerdictSchema.static): ContentFinding[] {
  if (verdict === 'clean') return []
  const { code, effect, help } = getRule(rules[verdict])
  const excerpts = reasons.slice(0, reasonsMax).flatMap((one) => toPlainLine(one) || [])
  return (excerpts.length > 0 ? excerpts : ['']).map((excerpt) => ({
    code,
    effect,
    line: 1,
    excerpt,
    help,
  }))
}

/** Reduces a reason to one line of plain text for responses and pages. */
const toPlainLine = (reason: string): string =>
  reason
    .slice(0, reasonCharsMax)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
