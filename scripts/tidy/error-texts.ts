/** Messages of rejected requests say what to do next, or how the value must be. */
import ts from 'typescript'

import { saysWhatToDo } from '../../src/kernel/text.ts'
import { type Finding, finding, type Source } from './source.ts'

/** Returns the text of a literal, with x for each value; undefined for another node. */
function literalText(node: ts.Expression | undefined): string | undefined {
  if (!node) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ literal }) => `x${literal.text}`)
    return node.head.text + spans.join('')
  }
  if (!ts.isBinaryExpression(node)) return undefined
  const [left, right] = [literalText(node.left), literalText(node.right)]
  return left === undefined || right === undefined ? undefined : left + right
}

/** Finds texts of rejections that leave the reader without a next step. */
export const errorTexts = (tree: Source[]): Finding[] =>
  tree.flatMap((source) =>
    source.nodes.flatMap((node) => {
      if (source.test || !ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return []
      if (node.expression.text !== 'rejectRequest') return []
      const text = literalText(node.arguments[0])
      // A text that is a value, or ends with one, comes from a function with texts of its own.
      if (text === undefined || !/ .*[^ x]$/.test(text) || saysWhatToDo(text)) return []
      const fix = 'end with a sentence that says what to do, such as "Remove it."'
      return [finding(source, node, `an error without a next step: "${text}"`, fix)]
    }),
  )
