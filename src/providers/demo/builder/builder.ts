import { editPage, repairPage } from './edit-page.ts'
import { analyzePrompt } from './prompt-analysis.ts'
import { renderPage } from './render-page.ts'

interface Message {
  role: unknown
  text: string
}

const block = (page: string): string => `\`\`\`html\n${page}\n\`\`\``

/**
 * What the demo's builder says: real pages, from templates of our own that the words of the prompt
 * choose and fill. The instruction tells the task: a plan as a JSON object; a page that is given,
 * changed; a page of its own that did not pass, mended; else a page for the last user text.
 */
export function buildReply(messages: Message[]): string {
  const told = messages.find(({ role }) => role === 'system')?.text ?? ''
  const last = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const before = messages.findLast(({ role }) => role === 'assistant')?.text
  if (before !== undefined && /^The page was checked/.test(last)) {
    return block(repairPage(pageIn(before)))
  }
  const [prompt = '', given] = last.split('\n\nThe page:\n')
  if (given !== undefined) return block(editPage(pageIn(given), prompt))
  const words = prompt.split('\n\nThe plan:\n')[0] ?? ''
  const kind = /\bgames?\b/i.test(told || words) ? 'game' : 'app'
  const wish = analyzePrompt(words, kind)
  if (!told.includes('ONE JSON object')) return block(renderPage(wish))
  const { title, lead: description, shelf, template } = wish
  return JSON.stringify({ title, description, shelf, plan: `Our template "${template}".` })
}

const pageIn = (text: string): string => /```html\n(.*)\n```/s.exec(text)?.[1] ?? text
