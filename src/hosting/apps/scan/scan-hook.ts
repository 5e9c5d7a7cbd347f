import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { anywhere, fetchGuarded } from '../../../core/fetch.ts'
import { oneOf } from '../../../core/schema.ts'
import { second } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import type { Finding } from '../../../scan/findings.ts'
import type { Inspection } from '../../../scan/inspection.ts'
import { theRule } from '../../../scan/rules.ts'

const bounds = { bytesMax: 65_536, ms: 10 * second, redirectsMax: 0 }
const reasonsMax = 10
const reasonCharsMax = 300

/** What the hook answers: `warn` may be hosted, and does not go on Explore. */
const Verdict = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  reasons: Type.Optional(Type.Array(Type.String())),
})

const rules = { warn: 'outside.warn', block: 'outside.block' } as const

/**
 * What SCAN_HOOK_URL says of bytes before they are shown; clean where there is no hook. They are
 * posted as their type, their hash beside them, and it has 10 s. Refuses try_again when it cannot
 * be reached or answers anything else than a verdict.
 */
export async function askOutside(
  { config, log }: Pick<AppContext, 'config' | 'log'>,
  { type, sha256, body }: { type: string; sha256: string; body: Uint8Array<ArrayBuffer> },
): Promise<typeof Verdict.static> {
  if (config.scanHookUrl === '') return { verdict: 'clean' }
  const headers = { 'content-type': type, 'x-content-sha256': sha256 }
  const init = { method: 'POST', headers, body }
  const said: unknown = await fetchGuarded(config.scanHookUrl, init, bounds, undefined, anywhere)
    .then((answer) => (answer.ok ? answer.json() : `it answered ${answer.status}`))
    .catch((error: unknown) => String(error))
  if (Value.Check(Verdict, said)) return said
  log.warn('scan.hook', { why: typeof said === 'string' ? said : 'its answer is no verdict' })
  throw new ApiError('try_again', { why: 'the outside safety check cannot be asked' })
}

/** What it says of a page, as findings (agent-api, The scan). Refuses try_again. */
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

/** One line, which goes into answers and pages. */
const plain = (reason: string): string =>
  reason
    .slice(0, reasonCharsMax)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
