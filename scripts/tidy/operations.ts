/** Operations return outcomes, not responses. Front ends change things only by operations. */
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
/** Parts of them that respond themselves: error documents, hosted apps, and upstreams. */
const responders =
  /^src\/(apps\/(viewer\/.*|ai\/routes|packs\/site-routes)|gateway\/(providers\/.*|envelopes)|.*\/error-response)\.ts$/

/** Texts of errors with their statuses. */
const errorTables = /^src\/people\/error-messages\//

/** Finds other functions in them that build a status, or a Response that they do not read. */
export const responses = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => domain.test(path) && !responders.test(path) && !files.test(path))
    .flatMap((source) =>
      source.nodes.flatMap((node) =>
        buildsResponse(node)
          ? [finding(source, node, 'builds a response', 'return a value or an outcome')]
          : buildsStatus(node) && !errorTables.test(source.path)
            ? [finding(source, node, 'has a status', 'use an outcome of kernel/http/outcome.ts')]
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

/** Returns whether a node is the status of an object, as in `{ status: 201, body }`. */
const buildsStatus = (node: ts.Node): boolean =>
  ts.isPropertyAssignment(node) &&
  node.name.getText() === 'status' &&
  ts.isNumericLiteral(node.initializer) &&
  status.test(node.initializer.text)

function transportPart(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const callee = node.expression.getText()
    if (/^Response(\.\w+)?$/.test(callee)) return `an operation builds a response: ${callee}`
    const code = node.arguments?.find((one) => ts.isNumericLiteral(one) && status.test(one.text))
    return code && `an operation passes on a status: ${code.getText()}`
  }
  if (buildsStatus(node)) return 'an operation has a status'
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node)
  return isText && html.test(node.text) ? 'an operation has HTML' : undefined
}

/** Pages of people and of the operator, HTTP and MCP. */
const frontEnds = /^src\/(site|server\/(console|http|mcp))\/(?!.*\.test\.ts$)/
/** Files that read a form without a session or its token: its reader, and forms of anybody. */
const readers = /^src\/site\/(forms|session|report|new\/new)\.ts$/

const changes = /\.tx$|^(recordAudit|pay|openHold|settleHold)$|(^|\.)idempotency\./
/** Errors of a transport, of its sign-in, and of a path that leads nowhere. */
const ownErrors = new Set([
  'not_found',
  'job_not_found',
  'rate_limited',
  'try_again',
  'not_signed_in',
  'sign_in_stale',
  'too_big',
])

/** Finds front ends with a rule: they change something, throw its error, or read a form alone. */
export const frontEndRules = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => frontEnds.test(path))
    .flatMap((source) =>
      source.nodes.flatMap((node) => {
        const what = ruleIn(node, source.path)
        return what ? [finding(source, node, what, 'perform an operation that has the rule')] : []
      }),
    )

function ruleIn(node: ts.Node, path: string): string | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'ApiError') {
    const name = node.arguments?.[0]
    const isOwn = !name || !ts.isStringLiteral(name) || ownErrors.has(name.text)
    return isOwn ? undefined : `a front end throws ${name.text}`
  }
  if (!ts.isCallExpression(node)) return undefined
  const callee = node.expression.getText()
  const isLoneForm = callee === 'readForm' && !readers.test(path)
  return changes.test(callee) || isLoneForm ? `a front end calls ${callee}` : undefined
}
