import type { AppContext } from '../../../context.ts'
import { isApiError } from '../../../errors.ts'
import type { Inspection } from '../../../scan/inspection.ts'
import * as pages from '../page-content.ts'
import { codeFaults, pageIn } from './page.ts'

/** A page that passed, or the errors for its model. */
export type PageCheck =
  | { html: string; inspection: Inspection }
  | { code: 'build_invalid' | 'blocked_by_scan' | 'too_large'; faults: string[] }

const faultsMax = 12
const none = 'There is no page in your answer: send one ```html block with a complete page.'

/**
 * Checks a built page: complete, scripts parse, no external resources, safety check passed. Throws
 * `try_again` when the scan cannot run.
 */
export async function checkPage(ctx: AppContext, answer: string): Promise<PageCheck> {
  const html = pageIn(answer)
  if (html === undefined) return { code: 'build_invalid', faults: [none] }
  try {
    const inspection = await pages.inspectPage(ctx, html)
    const outside = inspection.scan.findings.filter(({ code }) => code === 'net.external')
    const faults = [
      ...(await codeFaults(html)),
      ...outside.map(({ line, help, excerpt }) => `line ${line}: ${help} (${excerpt})`),
    ]
    if (faults.length === 0) return { html, inspection }
    return { code: 'build_invalid', faults: faults.slice(0, faultsMax) }
  } catch (error) {
    return refusedFaults(error)
  }
}

function refusedFaults(error: unknown): PageCheck {
  if (isApiError(error, 'blocked_by_scan')) {
    const { reasons } = error.details[0]
    return { code: 'blocked_by_scan', faults: reasons.slice(0, faultsMax) }
  }
  if (isApiError(error, 'too_large')) {
    return { code: 'too_large', faults: ['The page is over 4 MB. Write a much smaller one.'] }
  }
  throw error
}
