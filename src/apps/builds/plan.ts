import { descriptionCharsMax, titleCharsMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import type { App } from '../apps.ts'
import { defaultText } from '../publish.ts'
import { type Shelf, shelfNames } from '../shelves.ts'

export interface Plan {
  title: string
  description: string
  shelf: Shelf
  plan: string
}

const planCharsMax = 6_000

/** Parses the plan in a model's response. Invalid fields are filled from the prompt. */
export function parsePlan(text: string, prompt: string): Plan {
  const parsed = firstRecord(text)
  const { title, description, plan } = parsed
  const line = prompt.replaceAll(/\s+/g, ' ').trim()
  return {
    title: typeof title === 'string' && isPlainLine(title, titleCharsMax) ? title : toTitle(line),
    description:
      typeof description === 'string' && isPlainText(description, descriptionCharsMax)
        ? description
        : '',
    shelf: shelfNames.find((name) => name === parsed['shelf']) ?? defaultText.shelf,
    plan: (typeof plan === 'string' ? plan : JSON.stringify(plan ?? line)).slice(0, planCharsMax),
  }
}

const toTitle = (line: string): string =>
  line.length <= 60 ? line || defaultText.title : `${line.slice(0, 59).trimEnd()}…`

/** Returns the first JSON object of a text; an empty object when there is none. */
function firstRecord(text: string): Record<string, unknown> {
  const [from, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  try {
    return recordOf(JSON.parse(text.slice(from, end + 1)))
  } catch {
    return {}
  }
}

export const plannedTexts = (app: App, { title, description, shelf }: Omit<Plan, 'plan'>) => ({
  ...(app.title === defaultText.title && { title }),
  ...(app.description === defaultText.description && { description }),
  ...(app.shelf === defaultText.shelf && { shelf }),
})
