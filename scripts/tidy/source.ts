/** The parsed TypeScript files of the repository with their imports. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

import ts from 'typescript'

export interface Import {
  /** A path from the root ("src/kernel/money.ts") or the bare name of a package. */
  to: string
  node: ts.Node
  /** True for an import that does not exist at run time. */
  typeOnly: boolean
  /** The imported names, or '*' for all. */
  names: string[]
}

export interface Source {
  /** Path from the root with forward slashes. */
  path: string
  text: string
  ast: ts.SourceFile
  /** All nodes of `ast`, parents first. */
  nodes: ts.Node[]
  imports: Import[]
  /** A test or a fixture. It may import everything, and only tests import it. */
  test: boolean
}

export interface Finding {
  path: string
  line: number
  what: string
  fix: string
}

/** Returns whether a file is a test or a fixture. */
export const isTest = (path: string): boolean =>
  path.endsWith('.test.ts') || /^src\/testing\//.test(path)

/** Returns whether a file runs in browsers: one of public/, an island of a page, or its parts. */
export const isBrowserCode = (path: string): boolean =>
  path.startsWith('public/') || /\.(island|browser)\.ts$/.test(path)

/** Returns the files of the product that run on the server. */
export const serverFiles = (tree: Source[]): Source[] =>
  tree.filter(({ path, test }) => path.startsWith('src/') && !test && !isBrowserCode(path))

/** Calls `onNode` for the node and all its descendants. */
export function walk(node: ts.Node, onNode: (node: ts.Node) => void): void {
  onNode(node)
  ts.forEachChild(node, (child) => walk(child, onNode))
}

export function finding(source: Source, node: ts.Node, what: string, fix: string): Finding {
  const start = node.getStart(source.ast)
  const { line } = source.ast.getLineAndCharacterOfPosition(start)
  return { path: source.path, line: line + 1, what, fix }
}

/** Reads src, scripts and public below `root`, ordered by path. */
export function readTree(root: string): Source[] {
  const glob = new Bun.Glob('{src,scripts,public}/**/*.ts')
  return [...glob.scanSync({ cwd: root })]
    .filter((path) => !path.startsWith('public/dist/') && !path.endsWith('.d.ts'))
    .sort()
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')))
}

/** Reads the type declarations of src and public. Only their comments are checked. */
export const readDeclarations = (root: string): Source[] =>
  [...new Bun.Glob('{src,public}/**/*.d.ts').scanSync({ cwd: root })]
    .filter((path) => !path.startsWith('public/dist/'))
    .sort()
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')))

export function parse(path: string, text: string): Source {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const nodes: ts.Node[] = []
  walk(ast, (node) => void nodes.push(node))
  return { path, text, ast, nodes, imports: importsOf(nodes, path), test: isTest(path) }
}

const importsOf = (nodes: ts.Node[], path: string): Import[] =>
  nodes.flatMap((node) => {
    const [specifier, typeOnly, names] = importAt(node, nodes)
    return specifier && ts.isStringLiteral(specifier)
      ? [{ to: resolve(path, specifier.text), node, typeOnly, names }]
      : []
  })

type ImportParts = [specifier: ts.Node | undefined, typeOnly: boolean, names: string[]]

function importAt(node: ts.Node, nodes: ts.Node[]): ImportParts {
  if (ts.isImportDeclaration(node)) {
    const bindings = node.importClause?.namedBindings
    const named = bindings && ts.isNamedImports(bindings) ? [...bindings.elements] : []
    const typeOnly =
      node.importClause?.isTypeOnly === true ||
      (named.length > 0 && named.every((element) => element.isTypeOnly))
    const names = named.map((element) => (element.propertyName ?? element.name).text)
    if (bindings && ts.isNamespaceImport(bindings)) names.push(...used(bindings.name.text, nodes))
    return [node.moduleSpecifier, typeOnly, names]
  }
  if (ts.isExportDeclaration(node)) return [node.moduleSpecifier, node.isTypeOnly, ['*']]
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return [node.argument.literal, true, ['*']]
  }
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return [dynamic ? node.arguments[0] : undefined, false, ['*']]
}

/** Returns the used members of a namespace, or '*' if the file passes on the namespace. */
function used(namespace: string, nodes: ts.Node[]): string[] {
  const names: string[] = []
  nodes.forEach((node) => {
    if (!ts.isIdentifier(node) || node.text !== namespace) return
    const { parent } = node
    if (ts.isNamespaceImport(parent)) return
    if (ts.isPropertyAccessExpression(parent)) {
      if (parent.expression === node) names.push(parent.name.text)
    } else if (ts.isQualifiedName(parent)) names.push(parent.right.text)
    else if (!ts.isPropertyAssignment(parent) || parent.initializer === node) names.push('*')
  })
  return names
}

const resolve = (from: string, specifier: string): string =>
  specifier.startsWith('.')
    ? normalize(join(dirname(from), specifier)).replaceAll('\\', '/')
    : specifier
