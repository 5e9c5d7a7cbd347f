import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { anyNetwork, fetchGuarded } from '../../../core/fetch.ts'
import { oneOf } from '../../../core/schema.ts'
import { second } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import type { Finding } from '../../../scan/findings.ts'
import type { Inspection } from '../../../scan/inspection.ts'
import { theRule } from '../../../scan/rules.ts'

const bounds = { bytesMax: 65_536, ms: 10 * second, redirectsMax: 0 }
const reasonsMax = 10
const reasonCharsMax = 300

/** Response of the hook. `warn` allows hosting and excludes the page from Explore. */
const Verdict = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  reasons: Type.Optional(Type.Array(Type.String())),
})

const rules = { warn: 'outside.warn', block: 'outside.block' } as const

/**
 * Posts content to SCAN_HOOK_URL before it is shown and returns the verdict; `clean` without a
 * hook. The request carries the content type and hash and times out after 10 s. Throws `try_again`
 * when the hook is unreachable or its response is invalid.
 */
export async function askOutside(
  { config, log }: Pick<AppContext, 'config' | 'log'>,
  { type, sha256, body }: { type: string; sha256: string; body: Uint8Array<ArrayBuffer> },
): Promise<typeof Verdict.static> {
  if (config.scanHookUrl === '') return { verdict: 'clean' }
  const headers = { 'content-type': type, 'x-content-sha256': sha256 }
  const init = { method: 'POST', headers, body }
  const said: unknown = await fetchGuarded(config.scanHookUrl, init, bounds, undefined, anyNetwork)
    .then((answer) => (answer.ok ? answer.json() : `it answered ${answer.status}`))
    .catch((error: unknown) => String(error))
  if (Value.Check(Verdict, said)) return said
  log.warn('scan.hook', { why: typeof said === 'string' ? said : 'its answer is no verdict' })
  throw new ApiError('try_again', { why: 'the outside safety check cannot be asked' })
}

/**
 * Returns the verdict of the hook on a page as findings (docs/spec/agent-api-decisions.md, "The
 * safety check"). Throws `try_again`.
 */
export const outsideFindings = async (
  ctx: Pick<AppContext, 'config' | 'log'>,
  { identity, sha256 }: Inspection,
): Promise<Finding[]> =>
  findingsOf(await askOutside(ctx, { type: 'text/html; charset=utf-8', sha256, body: identity }))

function findingsOf({ verdict, reasons = [] }: typeof Verdict.static): Finding[] {
  if (verdict === 'clean') return []
  const { code, effect, help } = theRule(rules[verdict])
  const said = reasons.slice(0, reasonsMax).flatMap((one) => plain(one) || [])
  return (said.length > 0 ? said : ['']).map((excerpt) => ({
    code,
    effect,
    line: 1,
    excerpt,
    help,
  }))
}

/** Reduces a reason to one line of plain text for responses and pages. */
const plain = (reason: string): string =>
  reason
    .slice(0, reasonCharsMax)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
