/** What the two documents ask of the code: provoked refusals and typed answers. */
import ts from 'typescript'

import { type Finding, finding, type Source, walk } from './source.ts'

/** Refusals that no test can provoke yet. Each leaves the list with its first test. */
const openRefusals: string[] = []

/** Files that list every name, and so prove nothing about one of them. */
const tables = /(\/|^)envelope\.test\.ts$/

/**
 * Every name of the interfaces of facts must be thrown by the product and named by a test, or stand
 * on the open list, where no name may be that is provoked or unknown.
 */
export function refusals(tree: Source[], open = openRefusals): Finding[] {
  const list = tree.find(({ path }) => path === 'src/errors.ts')
  if (!list) return []
  const tests = tree.filter(({ path }) => path.endsWith('.test.ts') && !tables.test(path))
  const provoked = new Set(tests.flatMap(words))
  const thrown = new Set(tree.filter(({ test }) => !test).flatMap(thrownBy))
  const found: Finding[] = []
  const names = namesOf(list)
  for (const { name, node } of names) {
    if (!thrown.has(name) && !open.includes(name))
      found.push(finding(list, node, `nothing refuses with ${name}`, 'delete it'))
    if (!provoked.has(name) && !open.includes(name)) {
      const mend = 'provoke it in a test, or put it on the open list of scripts/tidy/contract.ts'
      found.push(finding(list, node, `no test provokes ${name}`, mend))
    }
  }
  for (const name of open) {
    const why = provoked.has(name) ? 'has its test' : 'is no refusal'
    if (provoked.has(name) || !names.some((entry) => entry.name === name)) {
      found.push(finding(list, list.ast, `${name} ${why}`, 'take it off the open list'))
    }
  }
  return found
}

function namesOf(list: Source): { name: string; node: ts.Node }[] {
  return list.ast.statements
    .filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => name.text.endsWith('Details'))
    .flatMap(({ members }) =>
      members.flatMap((node) => (node.name ? [{ name: node.name.getText(), node }] : [])),
    )
}

/** The words inside the texts of a test: its titles and the codes it expects. */
function words(source: Source): string[] {
  const found: string[] = []
  walk(source.ast, (node) => {
    if (ts.isStringLiteralLike(node)) found.push(...(node.text.match(/[a-z0-9_]+/g) ?? []))
  })
  return found
}

function thrownBy(source: Source): string[] {
  const found: string[] = []
  walk(source.ast, (node) => {
    if (!ts.isNewExpression(node) || node.expression.getText() !== 'ApiError') return
    const [first] = node.arguments ?? []
    if (first) walk(first, (part) => void (ts.isStringLiteral(part) && found.push(part.text)))
  })
  return found
}

const methods = /^(get|post|put|patch|delete)$/
const routes = /^src\/(hosting|gateway)\/.*routes\.ts$/

/** A text for readers or what their programs look for, not an operation of the document. */
const page = /\.(txt|md)$|^\/(server\.json|\.well-known\/.+)$/

/** Every operation in a routes.ts of either API says what it answers, status by status. */
export const operations = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => routes.test(path))
    .flatMap((source) => {
      const found: Finding[] = []
      walk(source.ast, (node) => {
        if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
        const [path, , options] = node.arguments
        if (!methods.test(node.expression.name.text) || !path || !ts.isStringLiteralLike(path))
          return
        if (!path.text.startsWith('/') || page.test(path.text) || hasAnswers(options)) return
        const what = `${node.expression.name.text} ${path.text} has no typed answer per status`
        found.push(finding(source, path, what, 'give it response: { 200: ..., 400: ... }'))
      })
      return found
    })

/** A `response` keyed by status, written here or in the call of `operation` that makes it. */
function hasAnswers(options: ts.Expression | undefined): boolean {
  if (!options) return false
  if (ts.isCallExpression(options)) return options.arguments.some(isByStatus)
  if (!ts.isObjectLiteralExpression(options)) return false
  return options.properties.some((property) => {
    if (ts.isSpreadAssignment(property)) return hasAnswers(property.expression)
    const isResponse = property.name?.getText() === 'response'
    return isResponse && ts.isPropertyAssignment(property) && isByStatus(property.initializer)
  })
}

const isByStatus = (node: ts.Expression): boolean =>
  ts.isObjectLiteralExpression(node) &&
  node.properties.some((entry) => /^\d{3}$/.test(entry.name?.getText() ?? ''))
