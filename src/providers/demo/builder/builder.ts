import { editPage, repairPage } from './edit-page.ts'
import { analyzePrompt } from './prompt-analysis.ts'
import { renderPage } from './render-page.ts'

interface Message {
  role: unknown
  text: string
}

const toBlock = (page: string): Reply => ({ text: `\`\`\`html\n${page}\n\`\`\`` })

/** A reply of a model, or the reason why it declined (OpenAI's field `refusal`). */
export type Reply = { text: string } | { declined: string }

/**
 * Builds the reply of demo/builder from templates, which the words of the prompt select and fill.
 * The messages determine the task: repair a page that failed its check, edit a given page, return a
 * plan as a JSON object, or create a page for the last user text. Declines what no template and no
 * edit does.
 */
export function buildReply(messages: Message[]): Reply {
  const system = messages.find(({ role }) => role === 'system')?.text ?? ''
  const last = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const before = messages.findLast(({ role }) => role === 'assistant')?.text
  if (before !== undefined && /^The page was checked/.test(last)) {
    return toBlock(repairPage(pageIn(before)))
  }
  const [prompt = '', page] = last.split('\n\nThe page:\n')
  if (page !== undefined) {
    const edited = editPage(pageIn(page), prompt)
    return edited === undefined ? { declined: editDeclined } : toBlock(edited)
  }
  const words = prompt.split('\n\nThe plan:\n')[0] ?? ''
  const spec = analyzePrompt(words)
  if ('declined' in spec) return spec
  if (!system.includes('ONE JSON object')) return toBlock(renderPage(spec))
  const { title, lead: description, shelf, template } = spec
  return {
    text: JSON.stringify({ title, description, shelf, plan: `Our template "${template}".` }),
  }
}

const editDeclined =
  'the demo builder changes only the name, the color, the speed and quoted words of a page. A real model can do more: the operator sets BUILDER_MODEL.'

const pageIn = (text: string): string => /```html\n(.*)\n```/s.exec(text)?.[1] ?? text
