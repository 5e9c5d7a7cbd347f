/** Names, widths of lines, lengths of functions, and excluded language features. */
import ts from 'typescript'

import { type Finding, finding, type Source } from './source.ts'

const columnsMax = 100
const functionLinesMax = 60
const handlerLinesMax = 15

const fileName = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.worker|\.config|\.island|\.browser)?\.ts$/
const emptyNames = /^(utils?|helpers?|common|shared|services?|managers?|types|misc|lib)$/
const silencers =
  /(?:\/\/|\/\*).*(@ts-(?:ignore|expect-error|nocheck)|eslint-disable|\bTODO\b|\bFIXME\b)/

export const style = (tree: Source[]): Finding[] =>
  tree.flatMap((source) => [...names(source), ...lines(source), ...language(source)])

const whole = (source: Source, line: number, what: string, fix: string): Finding => ({
  path: source.path,
  line,
  what,
  fix,
})

function names(source: Source): Finding[] {
  const parts = source.path.split('/')
  const file = parts.at(-1) ?? ''
  const empty = parts.map((part) => part.replace(/\.ts$/, '')).find((part) => emptyNames.test(part))
  return [
    ...(fileName.test(file) ? [] : [whole(source, 1, `named ${file}`, 'kebab-case, by the noun')]),
    ...(empty ? [whole(source, 1, `${empty} says nothing`, 'name it for what it holds')] : []),
  ]
}

function lines(source: Source): Finding[] {
  const all = source.text.replace(/\n$/, '').split('\n')
  const found: Finding[] = []
  const texts = textLines(source)
  all.forEach((line, index) => {
    const columns = [...line].length
    if (columns > columnsMax && !texts.has(index)) {
      const what = `${columns} columns, ${columnsMax} at most`
      found.push(whole(source, index + 1, what, 'break the line'))
    }
    const silenced = silencers.exec(line)?.[1]
    if (silenced) found.push(whole(source, index + 1, silenced, 'fix the error that it hides'))
  })
  return found
}

const longText = 60

/** Returns the lines of templates and long texts. A line break would change or hide the text. */
function textLines(source: Source): Set<number> {
  const inside = new Set<number>()
  const lineAt = (position: number) => source.ast.getLineAndCharacterOfPosition(position).line
  source.nodes.forEach((node) => {
    const isText = ts.isLiteralExpression(node) || ts.isTemplateExpression(node)
    const isLong = isText && node.getWidth(source.ast) > longText
    if (!ts.isTemplateLiteralToken(node) && !isLong) return
    const last = lineAt(node.getEnd())
    const first = lineAt(node.getStart(source.ast)) + (isLong ? 0 : 1)
    for (let line = first; line <= last; line++) inside.add(line)
  })
  return inside
}

function language(source: Source): Finding[] {
  const found: Finding[] = []
  const brands = brandsOf(source)
  source.nodes.forEach((node) => {
    const problem = findProblem(node, source, brands) ?? length(node, source)
    if (problem) found.push(finding(source, node, ...problem))
  })
  return found
}

type Problem = [what: string, fix: string]

function findProblem(node: ts.Node, source: Source, brands: Set<string>): Problem | undefined {
  if (isDefault(node) && !source.path.endsWith('.config.ts')) {
    return ['a default export', 'export it by name']
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return ['re-exports another file', 'import it from where it is written']
  }
  if (node.kind === ts.SyntaxKind.AnyKeyword) return ['any', 'use the type, or unknown']
  if (ts.isNonNullExpression(node)) return ['a non-null !', 'check it, or give a default']
  if (isContextMemory(node)) return ['memory keyed by the context', 'add it to state/']
  if (ts.isAwaitExpression(node) && isOutside(node) && isProgram(source)) {
    return ['an await outside a function', 'write a function: late code cannot wait (0149)']
  }
  if (isGroup(node)) return ['a group that is spread', 'write each on its own']
  if (ts.isTypeAssertionExpression(node)) return ['a cast', 'narrow it by a check']
  if (!ts.isAsExpression(node)) return undefined
  const type = node.type.getText()
  const free = type === 'const' || brands.has(type) || source.path === 'src/kernel/db/columns.ts'
  return free ? undefined : [`a cast: as ${type}`, 'narrow it by a check']
}

const isDefault = (node: ts.Node): boolean =>
  ts.isExportAssignment(node) ||
  (node.kind === ts.SyntaxKind.DefaultKeyword && node.parent.kind !== ts.SyntaxKind.DefaultClause)

const isContextMemory = (node: ts.Node): boolean =>
  ts.isCallLikeExpression(node) &&
  /^(lazyFor\(\(\w+:|new WeakMap<)\s*AppContext\b/.test(node.getText())

const isOutside = (node: ts.Node): boolean => ts.findAncestor(node, ts.isFunctionLike) === undefined

/** Returns whether the binary has the file in its bundle, other than as its entry. */
const isProgram = ({ path, test }: Source): boolean =>
  path.startsWith('src/') && !path.startsWith('src/testing/') && !test && path !== 'src/main.ts'

/** Finds objects and arrays that are spread where they are written. */
const isGroup = (node: ts.Node): boolean =>
  (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
  (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression))

/** Returns the branded types of this file. */
function brandsOf(source: Source): Set<string> {
  const brands = source.ast.statements
    .filter(ts.isTypeAliasDeclaration)
    .filter(
      ({ type }) => ts.isIntersectionTypeNode(type) && /\{\s*readonly \[/.test(type.getText()),
    )
  return new Set(brands.map(({ name }) => name.text))
}

/** A chain of routes is a table. Each of its handlers has a smaller limit. */
function length(node: ts.Node, source: Source): Problem | undefined {
  if (!ts.isFunctionLike(node) || isDescribe(node)) return undefined
  const isEdge = source.path.endsWith('/routes.ts')
  if (isEdge && /new Elysia\b/.test(node.getText())) return undefined
  const max = isEdge && isHandler(node) ? handlerLinesMax : functionLinesMax
  const at = (position: number): number => source.ast.getLineAndCharacterOfPosition(position).line
  const count = at(node.getEnd()) - at(node.getStart(source.ast)) + 1
  return count > max ? [`a function of ${count} lines, ${max} at most`, fixFor(max)] : undefined
}

const fixFor = (max: number): string =>
  max === handlerLinesMax ? 'an edge calls one verb' : 'give a part of it a name'

const isHandler = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && /\.(get|post|put|patch|delete)$/.test(parent.expression.getText())

const isDescribe = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && /^describe\b/.test(parent.expression.getText())
