import { recordOf } from '../../../core/schema.ts'
import { isPlainLine, isPlainText } from '../../../core/text.ts'
import { descriptionCharsMax, titleCharsMax } from '../../../limits.ts'
import type { App } from '../apps.ts'
import { defaultText } from '../publish.ts'
import { type Shelf, shelfNames } from '../shelves.ts'

/** What a model wants to build: its name on the tile, and what the page is to be. */
export interface Plan {
  title: string
  description: string
  shelf: Shelf
  plan: string
}

const planCharsMax = 6_000

/** The plan in a model's answer; what does not fit is filled from the prompt. */
export function planIn(answer: string, prompt: string): Plan {
  const said = recordIn(answer)
  const { title, description, plan } = said
  const line = prompt.replaceAll(/\s+/g, ' ').trim()
  return {
    title: typeof title === 'string' && isPlainLine(title, titleCharsMax) ? title : titleOf(line),
    description:
      typeof description === 'string' && isPlainText(description, descriptionCharsMax)
        ? description
        : '',
    shelf: shelfNames.find((name) => name === said['shelf']) ?? defaultText.shelf,
    plan: (typeof plan === 'string' ? plan : JSON.stringify(plan ?? line)).slice(0, planCharsMax),
  }
}

const titleOf = (line: string): string =>
  line.length <= 60 ? line || defaultText.title : `${line.slice(0, 59).trimEnd()}…`

/** The first JSON object of a text; an empty one where there is none. */
function recordIn(text: string): Record<string, unknown> {
  const [from, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  try {
    return recordOf(JSON.parse(text.slice(from, end + 1)))
  } catch {
    return {}
  }
}

/** What a build may say of its app: what the maker has not said, at its start or while it ran. */
export const unsaid = (app: App, { title, description, shelf }: Omit<Plan, 'plan'>) => ({
  ...(app.title === defaultText.title && { title }),
  ...(app.description === defaultText.description && { description }),
  ...(app.shelf === defaultText.shelf && { shelf }),
})
