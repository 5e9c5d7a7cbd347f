import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A page as a model writes it for another host, in a file of its own. */
export interface WrittenPage {
  name: string
  html: string
  outcome: unknown
}

const folder = join(import.meta.dir, 'pages')
const outcomePattern = /<!-- outcome: (.*) -->/

/**
 * Gives a page the function with which it reports its outcome, and reports its errors. It runs
 * before the scripts of the page. A report repeats, since not every driver listens from the start.
 */
const reports = `<script>
const outcome = (value) => {
  const say = () => top.postMessage({ said: value }, '*')
  say()
  setInterval(say, 300)
}
addEventListener('unhandledrejection', ({ reason }) => outcome('failed: ' + (reason?.message ?? reason)))
addEventListener('error', ({ message }) => message && outcome('failed: ' + message))
</script>`

/** Reads all pages, in the order of their names. */
export const writtenPages = (): WrittenPage[] =>
  readdirSync(folder)
    .toSorted()
    .map((file) => {
      const html = readFileSync(join(folder, file), 'utf8')
      return {
        name: file.replace('.html', ''),
        html: html.replace('</head>', () => `${reports}</head>`),
        outcome: JSON.parse(outcomePattern.exec(html)?.[1] ?? 'null'),
      }
    })
