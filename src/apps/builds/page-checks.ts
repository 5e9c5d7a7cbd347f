import { isApiError } from '../../kernel/errors.ts'
import type { AppContext } from '../../server/context.ts'
import type { ContentInspection } from '../content-scan.ts'
import { inspectPage } from '../page-content.ts'

/** A page that passed, or the errors for its model. */
export type PageCheck =
  | { html: string; inspection: ContentInspection }
  | { code: 'build_invalid' | 'blocked_by_scan' | 'too_large'; errors: string[] }

const errorsMax = 12
const noPage = 'Your response has no page: send one ```html block with a complete page.'

/** Throws `try_again` when the scan cannot run. */
export async function checkPage(ctx: AppContext, text: string): Promise<PageCheck> {
  const html = extractPage(text)
  if (html === undefined) return { code: 'build_invalid', errors: [noPage] }
  try {
    const inspection = await inspectPage(ctx, html)
    const outside = inspection.scan.findings.filter(({ code }) => code === 'net.external')
    const errors = [
      ...(await findCodeErrors(html)),
      ...outside.map(({ line, help, excerpt }) => `line ${line}: ${help} (${excerpt})`),
    ]
    if (errors.length === 0) return { html, inspection }
    return { code: 'build_invalid', errors: errors.slice(0, errorsMax) }
  } catch (error) {
    return errorsOf(error)
  }
}

function errorsOf(error: unknown): PageCheck {
  if (isApiError(error, 'blocked_by_scan')) {
    const { reasons } = error.details[0]
    return { code: 'blocked_by_scan', errors: reasons.slice(0, errorsMax) }
  }
  if (isApiError(error, 'too_large')) {
    return { code: 'too_large', errors: ['The page is over 4 MB. Write a much smaller one.'] }
  }
  throw error
}

/** Returns the HTML block of a response, or its text from doctype to `</html>`. */
function extractPage(text: string): string | undefined {
  const blocks = [...text.matchAll(/```(?:html)?[^\S\n]*\n(.*?)(?:\n```|$)/gs)]
  const longest = blocks
    .map(([, block = '']) => block)
    .reduce((best, block) => (block.length > best.length ? block : best), '')
  const page = longest || text
  const from = page.search(/<!doctype html|<html[\s>]/i)
  if (from < 0) return undefined
  const end = page.toLowerCase().lastIndexOf('</html>')
  return page.slice(from, end < 0 ? undefined : end + '</html>'.length)
}

const invisible = new Set(['html', 'head', 'body', 'title', 'meta', 'link', 'base', 'style'])
const scriptTypes = /^(|text\/javascript|application\/javascript|module)$/i

/** Returns the errors in a page's code, as text for its model. */
async function findCodeErrors(html: string): Promise<string[]> {
  const errors: string[] = []
  // Both tags are optional (WHATWG HTML, 13.1.2.4).
  if (/<(html|body)[\s>]/i.test(html) && !/<\/(html|body)>\s*$/i.test(html)) {
    errors.push('The page is cut off: it has no </html>.')
  }
  const counts = { scripts: 0, bodies: 0, inBody: 0, elements: 0 }
  let script: { type: string; code: string } | undefined
  const rewriter = new HTMLRewriter()
    .on('body', { element: () => void (counts.bodies += 1) })
    .on('body *', { element: () => void (counts.inBody += 1) })
    .on('*', { element: ({ tagName }) => void (counts.elements += invisible.has(tagName) ? 0 : 1) })
    .on('script', {
      element(element) {
        const own = { type: element.getAttribute('type') ?? '', code: '' }
        script = own
        counts.scripts += 1
        const number = counts.scripts
        element.onEndTag(() => {
          const error = scriptError(own)
          if (error) errors.push(`Script ${number} does not parse: ${error}`)
        })
      },
      text(chunk) {
        if (script) script.code += chunk.text
      },
    })
  await rewriter.transform(new Response(html)).text()
  const visible = counts.bodies > 0 ? counts.inBody : counts.elements
  if (visible === 0) errors.push('The body has no element, so the page is empty.')
  return errors
}

function scriptError({ type, code }: { type: string; code: string }): string | undefined {
  if (code.trim() === '') return undefined
  try {
    if (/json$/i.test(type)) JSON.parse(code)
    else if (scriptTypes.test(type)) new Bun.Transpiler({ loader: 'js' }).transformSync(code)
    return undefined
  } catch (error) {
    return String(error instanceof AggregateError ? error.errors[0] : error).slice(0, 300)
  }
}

const unchangedShareMin = 0.5
const linesMin = 30

/** Returns whether a change replaced most lines of a page. */
export function isRewritten(before: string, after: string): boolean {
  const linesOf = (html: string) => html.split('\n').flatMap((line) => line.trim() || [])
  const old = linesOf(before)
  const current = new Set(linesOf(after))
  const unchanged = old.filter((line) => current.has(line)).length
  return old.length >= linesMin && unchanged < old.length * unchangedShareMin
}
