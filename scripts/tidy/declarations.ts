/** The nodes of the syntax tree that declare a name. */
import ts from 'typescript'

/** Returns whether a name is that of a field, also one that a pattern reads under its own name. */
export const isFieldName = ({ parent }: Name): boolean =>
  ts.isPropertyAssignment(parent) ||
  ts.isPropertySignature(parent) ||
  (ts.isBindingElement(parent) && !parent.propertyName)

/** Nodes that declare their name. */
const declarations = new Set([
  ts.SyntaxKind.VariableDeclaration,
  ts.SyntaxKind.Parameter,
  ts.SyntaxKind.BindingElement,
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.FunctionExpression,
  ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.MethodSignature,
  ts.SyntaxKind.GetAccessor,
  ts.SyntaxKind.SetAccessor,
  ts.SyntaxKind.PropertyDeclaration,
  ts.SyntaxKind.PropertySignature,
  ts.SyntaxKind.PropertyAssignment,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
  ts.SyntaxKind.TypeParameter,
  ts.SyntaxKind.NamedTupleMember,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.ClassExpression,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.EnumMember,
  ts.SyntaxKind.ImportClause,
  ts.SyntaxKind.NamespaceImport,
])

export type Name = ts.Identifier | ts.PrivateIdentifier

export const isName = (node: ts.Node): node is Name =>
  ts.isIdentifier(node) || ts.isPrivateIdentifier(node)

/** Returns whether this code declares a name. Names that it only reads can be foreign. */
export function isDeclared(node: Name): boolean {
  const { parent } = node
  const isAlias =
    (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) && parent.propertyName
  if (!isAlias && !declarations.has(parent.kind)) return false
  return 'name' in parent && parent.name === node
}
