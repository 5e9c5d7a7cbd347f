/** Finds texts of scripts that people see in English, whatever the language of the page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

import { catalogParts } from '../../src/kernel/words/words.ts'
import { isBrowserCode, isTest, walk } from '../tidy/source.ts'

/** A text that the catalog does not hold, with what to do about it. */
export interface Problem {
  place: string
  fix: string
}

/** Properties and attributes that people read. */
const shown =
  /^(?:textContent|innerText|title|alt|placeholder|label|text|heading|yes|no|aria-label|ariaLabel)$/
const isName = (node: ts.Node): boolean =>
  (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && shown.test(node.text)

/** Returns whether a literal or a template has words: three letters, unlike units and GIF. */
function hasWords(node: ts.Node): boolean {
  const texts = ts.isStringLiteralLike(node)
    ? [node.text]
    : ts.isTemplateExpression(node)
      ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
      : []
  return texts.some((text) => /\p{L}{2}\p{Ll}/u.test(text))
}

/** Returns the nodes that a person reads: the branches of a condition, and the items of a list. */
function shownParts(node: ts.Node): ts.Node[] {
  if (ts.isConditionalExpression(node))
    return [node.whenTrue, node.whenFalse].flatMap((one) => shownParts(one))
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap((one) => shownParts(one))
  if (ts.isSpreadElement(node) || ts.isParenthesizedExpression(node))
    return shownParts(node.expression)
  return [node]
}

/** Returns the value that a node shows; undefined for a node that shows none. */
function shownValue(node: ts.Node): ts.Node | undefined {
  if (ts.isPropertyAssignment(node) && isName(node.name)) return node.initializer
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    ts.isPropertyAccessExpression(node.left) &&
    isName(node.left.name)
  )
    return node.right
  if (!ts.isCallExpression(node)) return undefined
  const [first, second] = node.arguments
  const called = node.expression
  const isAttribute = ts.isPropertyAccessExpression(called) && called.name.text === 'setAttribute'
  if (isAttribute && first && isName(first)) return second
  const name = ts.isIdentifier(called) ? called.text : ''
  if (name === 'create') return second
  // With two arguments, the first one is a code for programs.
  return /^(?:fail|report)$/.test(name) && (!second || name === 'report') ? first : undefined
}

/** Finds words of the scripts around apps that are in no message. */
export function findUntranslated(root: string): Problem[] {
  const problems: Problem[] = []
  const shown = new RegExp(`^(src|public/(${catalogParts.join('|')}))/`)
  const glob = new Bun.Glob('{src,public}/**/*.ts')
  for (const path of glob.scanSync({ cwd: root })) {
    if (isTest(path) || !isBrowserCode(path) || !shown.test(path)) continue
    const text = readFileSync(join(root, path), 'utf8')
    const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    walk(ast, (node) => {
      const value = shownValue(node)
      if (!value) return
      for (const part of shownParts(value).filter(hasWords)) {
        const { line } = ast.getLineAndCharacterOfPosition(part.getStart(ast))
        const fix = `${part.getText(ast)} is shown in English only. Write t(${part.getText(ast)}).`
        problems.push({ place: `${path}:${line + 1}`, fix })
      }
    })
  }
  return problems.sort((one, other) => (one.place < other.place ? -1 : 1))
}
