/** Operations return outcomes, which each transport turns into a response of its own. */
import ts from 'typescript'

import { type Finding, finding, type Source } from './source.ts'

/** Files of either API that declare operations. */
const files = /^src\/(hosting|gateway)\/(.*[/-])?operations\.ts$/

const html = /^\s*<(!doctype|[a-z][a-z\d-]*[\s>])/i
const status = /^[1-5]\d\d$/

/** Finds operations that build the response of a transport: a Response, a status, or HTML. */
export const outcomes = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => files.test(path))
    .flatMap((source) =>
      source.nodes.flatMap((node) => {
        const what = transportPart(node)
        return what
          ? [finding(source, node, what, 'return an outcome of kernel/http/outcome.ts')]
          : []
      }),
    )

function transportPart(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const callee = node.expression.getText()
    if (/^Response(\.\w+)?$/.test(callee)) return `an operation builds a response: ${callee}`
    const code = node.arguments?.find((one) => ts.isNumericLiteral(one) && status.test(one.text))
    return code && `an operation passes on a status: ${code.getText()}`
  }
  if (ts.isPropertyAssignment(node) && node.name.getText() === 'status')
    return ts.isNumericLiteral(node.initializer) ? 'an operation has a status' : undefined
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node)
  return isText && html.test(node.text) ? 'an operation has HTML' : undefined
}
