/** Checks of both documents: every error has a test, and every operation has response types. */
import ts from 'typescript'

import { type Finding, finding, type Source, walk } from './source.ts'

/** Errors that no test can provoke yet. The first test removes an error from the list. */
const untestedErrors: string[] = []

/** Files that list every name and provoke none. */
const tables = /(\/|^)error-response\.test\.ts$/

/**
 * Finds error names that the product does not throw or no test names, unless they are in the list
 * of untested errors. Finds names in that list that have a test or do not exist.
 */
export function errorCoverage(tree: Source[], untested = untestedErrors): Finding[] {
  const list = tree.find(({ path }) => path === 'src/kernel/errors.ts')
  if (!list) return []
  const tests = tree.filter(({ path }) => path.endsWith('.test.ts') && !tables.test(path))
  const provoked = new Set(tests.flatMap(words))
  const thrown = new Set(tree.filter(({ test }) => !test).flatMap(thrownBy))
  const found: Finding[] = []
  const names = namesOf(list)
  for (const { name, node } of names) {
    if (!thrown.has(name) && !untested.includes(name))
      found.push(finding(list, node, `nothing throws ${name}`, 'delete it'))
    if (!provoked.has(name) && !untested.includes(name)) {
      const fix = 'test it, or add it to untestedErrors in scripts/tidy/contract.ts'
      found.push(finding(list, node, `no test provokes ${name}`, fix))
    }
  }
  for (const name of untested) {
    const why = provoked.has(name) ? 'has a test' : 'does not exist'
    if (provoked.has(name) || !names.some((entry) => entry.name === name)) {
      found.push(finding(list, list.ast, `${name} ${why}`, 'remove it from untestedErrors'))
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

/** Returns the words in the strings of a test: its titles and expected codes. */
function words(source: Source): string[] {
  const found: string[] = []
  source.nodes.forEach((node) => {
    if (ts.isStringLiteralLike(node)) found.push(...(node.text.match(/[a-z0-9_]+/g) ?? []))
  })
  return found
}

function thrownBy(source: Source): string[] {
  const found: string[] = []
  source.nodes.forEach((node) => {
    if (!ts.isNewExpression(node) || node.expression.getText() !== 'ApiError') return
    const [first] = node.arguments ?? []
    if (first) walk(first, (part) => void (ts.isStringLiteral(part) && found.push(part.text)))
  })
  return found
}

const methods = /^(get|post|put|patch|delete)$/
const routes = /^src\/(hosting|gateway)\/.*routes\.ts$/

/** Paths of guides, which are not operations. */
const guidePath = /\.(txt|md)$|^\/(server\.json|\.well-known\/.+)$/

/** Finds routes of either API, beside its operations, without response types by status. */
export const responseTypes = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => routes.test(path))
    .flatMap((source) => {
      const found: Finding[] = []
      source.nodes.forEach((node) => {
        if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
        const [path, , options] = node.arguments
        if (!methods.test(node.expression.name.text) || !path || !ts.isStringLiteralLike(path))
          return
        if (!path.text.startsWith('/') || guidePath.test(path.text) || hasResponses(options)) return
        const what = `${node.expression.name.text} ${path.text} has no response types`
        found.push(
          finding(
            source,
            path,
            what,
            'declare it in operations.ts, or with response: { 200: ... }',
          ),
        )
      })
      return found
    })

/** Returns whether route options have responses by status, themselves or in a declaration. */
function hasResponses(options: ts.Expression | undefined): boolean {
  if (!options) return false
  if (ts.isCallExpression(options)) return options.arguments.some(isByStatus)
  if (!ts.isObjectLiteralExpression(options)) return false
  return options.properties.some((property) => {
    if (ts.isSpreadAssignment(property)) return hasResponses(property.expression)
    const isResponse = property.name?.getText() === 'response'
    return isResponse && ts.isPropertyAssignment(property) && isByStatus(property.initializer)
  })
}

const isByStatus = (node: ts.Expression): boolean =>
  ts.isObjectLiteralExpression(node) &&
  node.properties.some((entry) => /^\d{3}$/.test(entry.name?.getText() ?? ''))
