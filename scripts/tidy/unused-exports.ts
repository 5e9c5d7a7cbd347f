/** Unused exports. */
import ts from 'typescript'

import { type Finding, finding, serverFiles, type Source } from './source.ts'

interface Export {
  name: string
  node: ts.Node
  isType: boolean
}

/**
 * Files with readers outside the tree: drizzle-kit reads tables; the binary starts main and the
 * workers, and its build writes modules that import lazy-packages.ts and late-code.ts.
 */
const read = /(\/tables\.ts|^src\/main\.ts|worker\.ts|\/(lazy-packages|late-code)\.ts)$/

/**
 * Finds exports of src that no other file of the product or the scripts imports. An export that
 * its own file uses may exist for its test, and a type for the signature that contains it.
 */
export function unusedExports(tree: Source[]): Finding[] {
  const importedNames = new Map<string, Set<string>>()
  for (const source of tree) {
    for (const { to, names } of source.imports) {
      // The fixtures of the tests count as importers. A test alone does not.
      const key = source.path.endsWith('.test.ts') ? `test of ${to}` : to
      importedNames.set(key, new Set([...(importedNames.get(key) ?? []), ...names]))
    }
  }
  const isImported = (key: string, name: string): boolean =>
    importedNames.get(key)?.has(name) === true || importedNames.get(key)?.has('*') === true
  return serverFiles(tree)
    .filter((source) => !read.test(source.path))
    .flatMap((source) =>
      exportsOf(source).flatMap(({ name, node, isType }) => {
        if (isImported(source.path, name)) return []
        const own = mentions(source, name) > 1
        if (own && (isType || isImported(`test of ${source.path}`, name))) return []
        const fix = own ? 'remove the word export' : 'delete it'
        return [finding(source, node, `nothing imports ${name}`, fix)]
      }),
    )
}

function exportsOf(source: Source): Export[] {
  return source.ast.statements.flatMap((node): Export[] => {
    const marked =
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (!marked) return []
    if (ts.isVariableStatement(node)) {
      return node.declarationList.declarations.flatMap(namesIn)
    }
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
    const named = isType || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)
    return named && node.name ? [{ name: node.name.text, node, isType }] : []
  })
}

/** Returns the names of a declaration: one for `const a`, two for `const { a, b }`. */
const namesIn = (node: ts.VariableDeclaration | ts.BindingElement): Export[] =>
  ts.isIdentifier(node.name)
    ? [{ name: node.name.text, node, isType: false }]
    : node.name.elements.flatMap((entry) => (ts.isBindingElement(entry) ? namesIn(entry) : []))

function mentions(source: Source, name: string): number {
  let count = 0
  source.nodes.forEach((node) => {
    if (ts.isIdentifier(node) && node.text === name) count += 1
  })
  return count
}
