import ts from 'typescript'

import { type Finding, finding, serverFiles, type Source } from './source.ts'

/** Finds SQL in operations, routes and front ends, and drizzle's own transaction outside db/. */
export const sql = (tree: Source[]): Finding[] => serverFiles(tree).flatMap(sqlIn)

function sqlIn(source: Source): Finding[] {
  const found: Finding[] = []
  const edge =
    /([/-](routes|operations)\.ts|\/schemas\.ts|^src\/(apps\/viewer|server\/mcp|main\.ts).*)$/
  for (const { to, node } of source.imports) {
    if (to.startsWith('drizzle-orm') && edge.test(source.path)) {
      found.push(
        finding(
          source,
          node,
          `a route or front end imports ${to}`,
          'call a function of the module that owns the table',
        ),
      )
    }
  }
  if (source.path.startsWith('src/kernel/db/')) return found
  source.nodes.forEach((node) => {
    const call = ts.isCallExpression(node) ? node.expression : undefined
    if (call && ts.isPropertyAccessExpression(call) && call.name.text === 'transaction') {
      const fix = 'use engine.tx: after a throw the rows of drizzle’s own transaction stay'
      found.push(finding(source, node, `calls ${call.getText()}`, fix))
    }
  })
  return found
}
