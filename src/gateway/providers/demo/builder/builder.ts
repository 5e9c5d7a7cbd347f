import { analyzePrompt, findName, findNamedHue, howToAddModel } from './prompt-analysis.ts'
import { escapeText, renderPage } from './render-page.ts'

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

const editDeclined = `the demo builder changes only the name, the color, the speed and quoted words of a page. The rest needs a model. ${howToAddModel}`

const pageIn = (text: string): string => /```html\n(.*)\n```/s.exec(text)?.[1] ?? text

const hueLine = /(--hue:\s*)[\d.]+/
const speedLine = /(const speed = )([\d.]+)/

/**
 * Edits a page: its name ("call it X"), its color ("make it blue"), its speed ("faster"), or a word
 * (change "A" to "B"). Returns undefined for a prompt that it does not understand.
 */
function editPage(page: string, prompt: string): string | undefined {
  const swap = /["“]([^"”]+)["”] (?:to|with|into|by) ["“]([^"”]*)["”]/i.exec(prompt)
  const [, from, to = ''] = swap ?? []
  if (from && page.includes(escapeText(from))) {
    return page.replaceAll(escapeText(from), () => escapeText(to))
  }
  const name = findName(prompt)
  const hue = findNamedHue(prompt.replace(name ?? '', '').toLowerCase())
  const factor = findFactor(prompt)
  if (isMore(prompt.replace(name ?? '', ''))) return undefined
  let edited = name === undefined ? page : rename(page, escapeText(name))
  if (hue !== undefined) edited = recolor(edited, hue)
  if (factor !== 1) {
    edited = edited.replace(speedLine, (_, line: string, now: string) => {
      return `${line}${Math.round(Number(now) * factor * 100) / 100}`
    })
  }
  return edited === page ? undefined : edited
}

/** Returns the factor of the speed that a prompt asks for. */
function findFactor(prompt: string): number {
  if (/\b(fast|quick|speed up|harder)/i.test(prompt)) return 1.25
  return /\b(slow|calm|easier)/i.test(prompt) ? 0.8 : 1
}

/** Checks whether a prompt also asks for what no edit does. A partial edit is rejected. */
const isMore = (prompt: string): boolean =>
  /\b(add|remove|delete|instead of|levels?|enem(y|ies)|boss\w*|power-?ups?|sounds?|music|buttons?|images?|pictures?|multi-?player)\b/i.test(
    prompt,
  )

const rename = (page: string, name: string): string =>
  page
    .replace(/(<title[^>]*>)[^<]*/i, (_, tag: string) => tag + name)
    .replace(/(<h1[^>]*>)[^<]*/i, (_, tag: string) => tag + name)

function recolor(page: string, hue: number): string {
  if (hueLine.test(page)) return page.replace(hueLine, (_, name: string) => name + hue)
  const style = `<style>:root { accent-color: oklch(.6 .18 ${hue}) } body { background: oklch(.9 .06 ${hue}); color: oklch(.25 .05 ${hue}) }</style>`
  return insertBefore(page, /<\/head>|<body[\s>]|<\/body>|<\/html>/i, style)
}

function insertBefore(page: string, place: RegExp, text: string): string {
  const at = page.search(place)
  return at < 0 ? `${page}\n${text}` : `${page.slice(0, at)}${text}\n${page.slice(at)}`
}

/** Removes external resources from a page and adds a missing end tag. */
function repairPage(page: string): string {
  const repaired = page
    .replaceAll(/<script\b[^>]*\ssrc\s*=[^>]*>\s*<\/script>/gi, '')
    .replaceAll(/<link\b[^>]*\shref\s*=\s*["']?(?:https?:)?\/\/[^>]*>/gi, '')
    .replaceAll(/<(?:img|iframe|source)\b[^>]*\ssrc\s*=\s*["']?(?:https?:)?\/\/[^>]*>/gi, '')
    .replaceAll(/@import[^;]*;/gi, '')
    .trimEnd()
  return /<\/(html|body)>$/i.test(repaired) ? repaired : `${repaired}\n</html>`
}
