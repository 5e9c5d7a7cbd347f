import { editPage, repairPage } from './edit-page.ts'
import { analyzePrompt } from './prompt-analysis.ts'
import { renderPage } from './render-page.ts'

interface Message {
  role: unknown
  text: string
}

const toBlock = (page: string): string => `\`\`\`html\n${page}\n\`\`\``

/**
 * Builds the reply of demo/builder from templates, which the words of the prompt select and fill.
 * The messages determine the task: repair a page that failed its check, edit a given page, return a
 * plan as a JSON object, or create a page for the last user text.
 */
export function buildReply(messages: Message[]): string {
  const system = messages.find(({ role }) => role === 'system')?.text ?? ''
  const last = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const before = messages.findLast(({ role }) => role === 'assistant')?.text
  if (before !== undefined && /^The page was checked/.test(last)) {
    return toBlock(repairPage(pageIn(before)))
  }
  const [prompt = '', page] = last.split('\n\nThe page:\n')
  if (page !== undefined) return toBlock(editPage(pageIn(page), prompt))
  const words = prompt.split('\n\nThe plan:\n')[0] ?? ''
  const kind = /\bgames?\b/i.test(system || words) ? 'game' : 'app'
  const spec = analyzePrompt(words, kind)
  if (!system.includes('ONE JSON object')) return toBlock(renderPage(spec))
  const { title, lead: description, shelf, template } = spec
  return JSON.stringify({ title, description, shelf, plan: `Our template "${template}".` })
}

const pageIn = (text: string): string => /```html\n(.*)\n```/s.exec(text)?.[1] ?? text
