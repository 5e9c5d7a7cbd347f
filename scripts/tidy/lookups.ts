/** Lookups of texts in objects, where "constructor" finds a member of Object.prototype. */
import ts from 'typescript'

import { type Finding, finding, serverFiles, type Source } from './source.ts'

export function lookups(tree: Source[]): Finding[] {
  const sources = serverFiles(tree)
  const tables = new Map(sources.map((source) => [source.path, tablesOf(source)]))
  return sources.flatMap((source) => {
    const imported = source.imports.flatMap(({ to, names }) =>
      names.filter((name) => tables.get(to)?.has(name)),
    )
    const known = new Set([...(tables.get(source.path) ?? []), ...imported])
    return findLookups(source, known)
  })
}

/** Returns the names of the constants that are an object with texts as keys. */
function tablesOf({ ast, nodes }: Source): Set<string> {
  const names = new Set<string>()
  nodes.forEach((node) => {
    if (!ts.isVariableDeclaration(node) || !node.initializer || !node.type) return
    const isTable = /^(Readonly<|Partial<)*Record<string,/.test(node.type.getText(ast))
    if (!isTable || !ts.isObjectLiteralExpression(node.initializer)) return
    if (node.initializer.properties.length > 0) names.add(node.name.getText(ast))
  })
  return names
}

function findLookups(source: Source, tables: Set<string>): Finding[] {
  const found: Finding[] = []
  source.nodes.forEach((node) => {
    if (ts.isElementAccessExpression(node) && !ts.isStringLiteral(node.argumentExpression)) {
      const { expression: table } = node
      if (!ts.isObjectLiteralExpression(table) && !tables.has(table.getText(source.ast))) return
      found.push(
        finding(source, node, 'looks up a text in an object', 'use lookUp of kernel/schema.ts'),
      )
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) {
      if (ts.isStringLiteral(node.left) || ts.isPrivateIdentifier(node.left)) return
      found.push(finding(source, node, 'looks for a text in an object', 'use Object.hasOwn'))
    }
  })
  return found
}
