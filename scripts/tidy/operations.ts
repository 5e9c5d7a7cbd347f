/** Operations return outcomes, not responses. Pages change things only by operations. */
import ts from 'typescript'

import { type Finding, finding, type Source } from './source.ts'

/** Files of either API that declare operations. */
const files = /^src\/(.*[/-])?operations\.ts$/

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

/** Modules whose functions operations call. */
const domain = /^src\/(store|money|jobs|people|apps|gateway)\/(?!.*\.test\.ts$)/
/** The front ends in them: error documents, hosted apps, and upstreams. */
const frontEnds =
  /^src\/(apps\/(viewer\/.*|ai\/routes|packs\/site-routes)|gateway\/(providers\/.*|envelopes)|.*\/error-response)\.ts$/

/** Finds functions below the front ends that build a Response, unless they read it at once. */
export const responses = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => domain.test(path) && !frontEnds.test(path) && !files.test(path))
    .flatMap((source) =>
      source.nodes.flatMap((node) =>
        buildsResponse(node)
          ? [finding(source, node, 'builds a response', 'return a value or an outcome')]
          : [],
      ),
    )

function buildsResponse(node: ts.Node): boolean {
  if (!ts.isNewExpression(node)) {
    return ts.isCallExpression(node) && /^Response\.\w+$/.test(node.expression.getText())
  }
  const isRead = ts.isPropertyAccessExpression(node.parent) || ts.isCallExpression(node.parent)
  return node.expression.getText() === 'Response' && !isRead
}

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

/** Pages of people and of the operator. */
const pages = /^src\/(site|server\/console)\/(?!.*\.test\.ts$)/
/** Files that read a form without a session or its token: its reader, and forms of anybody. */
const readers = /^src\/site\/(forms|session|report|new\/\w+)\.ts$/

/** Finds pages that change something, or read a form beside `form(operation, ...)`. */
export const pageForms = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => pages.test(path))
    .flatMap((source) =>
      source.nodes.flatMap((node) => {
        if (!ts.isCallExpression(node)) return []
        const callee = node.expression.getText()
        const changes = /\.tx$|^recordAudit$|(^|\.)idempotency\./.test(callee)
        const reads = callee === 'readForm' && !readers.test(source.path)
        return changes || reads
          ? [finding(source, node, `a page calls ${callee}`, 'perform an operation: site/form.ts')]
          : []
      }),
    )
