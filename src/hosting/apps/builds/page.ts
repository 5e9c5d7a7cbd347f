/**
 * Extracts the page from a model's response: its HTML block, or the text from doctype to `</html>`.
 */
export function pageIn(answer: string): string | undefined {
  const blocks = [...answer.matchAll(/```(?:html)?[^\S\n]*\n(.*?)(?:\n```|$)/gs)]
  const longest = blocks
    .map(([, text = '']) => text)
    .reduce((best, text) => (text.length > best.length ? text : best), '')
  const text = longest || answer
  const from = text.search(/<!doctype html|<html[\s>]/i)
  if (from < 0) return undefined
  const end = text.toLowerCase().lastIndexOf('</html>')
  return text.slice(from, end < 0 ? undefined : end + '</html>'.length)
}

/** Elements that render nothing. */
const unseen = new Set(['html', 'head', 'body', 'title', 'meta', 'link', 'base', 'style'])
const scriptTypes = /^(|text\/javascript|application\/javascript|module)$/i

/** Returns the errors in a page's code, as text for its model. */
export async function codeFaults(html: string): Promise<string[]> {
  const faults: string[] = []
  // Both tags are optional (WHATWG HTML, 13.1.2.4).
  if (/<(html|body)[\s>]/i.test(html) && !/<\/(html|body)>\s*$/i.test(html)) {
    faults.push('The page is cut off: it has no </html>.')
  }
  const seen = { scripts: 0, bodies: 0, inBody: 0, elements: 0 }
  let script: { type: string; code: string } | undefined
  const rewriter = new HTMLRewriter()
    .on('body', { element: () => void (seen.bodies += 1) })
    .on('body *', { element: () => void (seen.inBody += 1) })
    .on('*', { element: ({ tagName }) => void (seen.elements += unseen.has(tagName) ? 0 : 1) })
    .on('script', {
      element(element) {
        const own = { type: element.getAttribute('type') ?? '', code: '' }
        script = own
        seen.scripts += 1
        const number = seen.scripts
        element.onEndTag(() => {
          const fault = scriptFault(own)
          if (fault) faults.push(`Script ${number} does not parse: ${fault}`)
        })
      },
      text(chunk) {
        if (script) script.code += chunk.text
      },
    })
  await rewriter.transform(new Response(html)).text()
  const shown = seen.bodies > 0 ? seen.inBody : seen.elements
  if (shown === 0) faults.push('The page has no element in its body: nothing would show.')
  return faults
}

function scriptFault({ type, code }: { type: string; code: string }): string | undefined {
  if (code.trim() === '') return undefined
  try {
    if (/json$/i.test(type)) JSON.parse(code)
    else if (scriptTypes.test(type)) new Bun.Transpiler({ loader: 'js' }).transformSync(code)
    return undefined
  } catch (error) {
    return String(error instanceof AggregateError ? error.errors[0] : error).slice(0, 300)
  }
}

/** Share of the lines that a small change keeps. */
const keptShareMin = 0.5
const linesMin = 30

/** Returns whether a change replaced most lines of a page. */
export function isRewritten(before: string, after: string): boolean {
  const linesOf = (html: string) => html.split('\n').flatMap((line) => line.trim() || [])
  const old = linesOf(before)
  const left = new Set(linesOf(after))
  const kept = old.filter((line) => left.has(line)).length
  return old.length >= linesMin && kept < old.length * keptShareMin
}
