import { isAlias, isMap, isNode, isScalar, LineCounter, parse, parseDocument, visit } from 'yaml'

/** The fields of a YAML mapping with their lines, or what is wrong with it. */
interface ParsedFields {
  fields: Map<string, { line: number; value: unknown }>
  problems: { line: number; problem: string }[]
}

/**
 * Parses the source of a frontmatter, of which the caller bounds the length. All scalars are texts,
 * as in strict YAML. Aliases and anchors are rejected before anything is expanded.
 */
export function parseFields(source: string): ParsedFields {
  const failed = (line: number, problem: string): ParsedFields => ({
    fields: new Map(),
    problems: [{ line, problem }],
  })
  if (isNested(source)) return failed(1, 'the frontmatter is nested too deeply.')
  const lineCounter = new LineCounter()
  const document = parseDocument(source, { schema: 'failsafe', lineCounter, stringKeys: true })
  const lineOf = (offset = 0): number => lineCounter.linePos(offset).line
  const [error] = [...document.errors, ...document.warnings]
  if (error) {
    const [message = ''] = error.message.split('\n')
    return failed(lineOf(error.pos[0]), `invalid YAML: ${message.replace(/ at line .*$/, '')}.`)
  }
  let anchor: number | undefined
  visit(document, {
    Node(_, node) {
      if (anchor === undefined && (isAlias(node) || node.anchor !== undefined)) {
        anchor = lineOf(node.range?.[0])
      }
    },
  })
  if (anchor !== undefined) return failed(anchor, 'remove the YAML anchor or alias.')
  const { contents } = document
  if (!isMap(contents)) return failed(1, 'the frontmatter must be a list of "field: value".')
  const fields: ParsedFields['fields'] = new Map()
  for (const { key, value } of contents.items) {
    const line = isScalar(key) ? lineOf(key.range?.[0]) : 1
    const plain: unknown = isNode(value) ? value.toJS(document, { mapAsMap: true }) : ''
    fields.set(String(key), { line, value: plain })
  }
  return { fields, problems: [] }
}

/**
 * Returns the frontmatter of a stored pack as JSON, with the types that YAML readers give it. Names
 * stay texts, as at publishing: "1" and "0x1" would be the same number.
 */
export const parseJson = (source: string): unknown => parse(source, { stringKeys: true })

const depthMax = 8

/** Returns whether brackets or indented lines nest deeper than any frontmatter. */
function isNested(source: string): boolean {
  let depth = 0
  let deepest = 0
  for (const char of source) {
    if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    deepest = Math.max(deepest, depth)
  }
  const lists = source.split('\n').some((line) => /^[\s]*(?:[-?:]\s+){8}/.test(line))
  const indents = new Set(source.split('\n').map((line) => /^ */.exec(line)?.[0].length))
  return deepest > depthMax || lists || indents.size > 2 * depthMax
}

/** Returns SKILL.md with another name. The rest of the text stays the same. */
export function renameSkill(text: string, name: string): string {
  const start = text.indexOf('\n') + 1
  const document = parseDocument(text.slice(start, text.indexOf('\n---', start)), {
    schema: 'failsafe',
  })
  const node = document.get('name', true)
  const [from, to] = (isScalar(node) && node.range) || [0, 0]
  return text.slice(0, start + from) + name + text.slice(start + to)
}
