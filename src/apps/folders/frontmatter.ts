import { type Json, recordOf } from '../../kernel/schema.ts'
import { hasVisibleText, isPlainLine, isPlainText } from '../../kernel/text.ts'
import type { Frontmatter } from './folder.ts'
import {
  compatibilityCharsMax,
  frontmatterBytesMax,
  frontmatterDescriptionCharsMax,
  metadataEntriesMax,
  nameCharsMax,
} from './limits.ts'

/** The frontmatter of a SKILL.md with its name. */
export interface SkillHeader extends Frontmatter {
  name: string
}

/** Name rules of https://agentskills.io/specification. */
export const namePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** Returns the lines between the fences, and the line of the first one. */
const fences = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/

interface HeaderResult {
  header?: SkillHeader
  reasons: string[]
}

const at = (line: number, problem: string): string => `SKILL.md line ${line}: ${problem}`

/** Reads the frontmatter of a SKILL.md. `reasons` says what is wrong with it. */
export async function readHeader(text: string): Promise<HeaderResult> {
  const source = fences.exec(text.slice(0, frontmatterBytesMax))?.[1]
  if (source === undefined) {
    const problem =
      text.startsWith('---') && text.length > frontmatterBytesMax
        ? `the frontmatter must end with --- within ${frontmatterBytesMax / 1_024} KB.`
        : 'start the file with YAML frontmatter between two lines of ---.'
    return { reasons: [at(1, problem)] }
  }
  const { parseFields } = await import('./frontmatter-yaml.ts')
  const parsed = parseFields(source)
  // The first line of the source is line 2 of the file.
  const reasons = parsed.problems.map(({ line, problem }) => at(line + 1, problem))
  if (reasons.length > 0) return { reasons }
  return toHeader(parsed.fields)
}

/** Returns all fields of the frontmatter of a stored SKILL.md, unchanged. */
export async function readFrontmatter(text: string): Promise<Json> {
  const { parseJson } = await import('./frontmatter-yaml.ts')
  return recordOf(parseJson(fences.exec(text)?.[1] ?? ''))
}

type Fields = Map<string, { line: number; value: unknown }>

function toHeader(fields: Fields): HeaderResult {
  const reasons: string[] = []
  const check = (field: string, isValid: (value: unknown) => boolean, rule: string): void => {
    const found = fields.get(field)
    if (found && !isValid(found.value)) reasons.push(at(found.line + 1, `"${field}" ${rule}`))
  }
  for (const field of ['name', 'description']) {
    if (!fields.has(field)) reasons.push(at(1, `the frontmatter has no "${field}".`))
  }
  for (const [field, { line }] of fields) {
    if (known.has(field)) continue
    const problem = `"${field}" is not a field of Agent Skills. Move it to "metadata".`
    reasons.push(at(line + 1, problem))
  }
  check('name', isName, `must have 1 to ${nameCharsMax} of a-z, 0-9 and single hyphens inside.`)
  check(
    'description',
    isDescription,
    `must be plain text of 1 to ${frontmatterDescriptionCharsMax} characters.`,
  )
  check('license', isShortLine, 'must be one plain line.')
  const compatibilityRule = `must be plain text of 1 to ${compatibilityCharsMax} characters.`
  check('compatibility', isShortText, compatibilityRule)
  check('allowed-tools', isShortLine, 'must be one line of tools separated by spaces.')
  check('metadata', isMetadata, `must map at most ${metadataEntriesMax} names to plain texts.`)
  return reasons.length > 0 ? { reasons } : { header: headerOf(fields), reasons }
}

const known = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
])

const isText = (value: unknown): value is string => typeof value === 'string'

const isName = (value: unknown): boolean =>
  isText(value) && value.length <= nameCharsMax && namePattern.test(value)

const isDescription = (value: unknown): boolean =>
  isText(value) && hasVisibleText(value) && isPlainText(value, frontmatterDescriptionCharsMax)

const isShortText = (value: unknown): boolean =>
  isText(value) && hasVisibleText(value) && isPlainText(value, compatibilityCharsMax)

const isShortLine = (value: unknown): boolean =>
  isText(value) && isPlainLine(value, compatibilityCharsMax)

const isMetadata = (value: unknown): boolean =>
  value instanceof Map &&
  value.size <= metadataEntriesMax &&
  value.entries().every((entry) => entry.every(isShortLine))

function headerOf(fields: Fields): SkillHeader {
  const textOf = (field: string): string => String(fields.get(field)?.value ?? '')
  const metadata = fields.get('metadata')?.value
  const texts = {
    license: 'license',
    compatibility: 'compatibility',
    allowedTools: 'allowed-tools',
  }
  const given = Object.entries(texts).filter(([, field]) => fields.has(field))
  return {
    name: textOf('name'),
    description: textOf('description').trim(),
    ...Object.fromEntries(given.map(([key, field]) => [key, textOf(field)])),
    ...(metadata instanceof Map && { metadata: Object.fromEntries(metadata) }),
  }
}
