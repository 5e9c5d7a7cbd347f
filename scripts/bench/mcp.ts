import { costUs, ratio, requestFor, runLoad, targetAt } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, startBerthServer } from './load/served.ts'
import { atLeast, type BenchRow } from './row.ts'

/** Above 0.5 because of the MCP library (docs/decisions/0026). */
const limit = 0.1
const revision = '2026-07-28'
const envelope = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Returns a raw call of get_app in either protocol revision. */
function callFor(id: string, authorization: string, isModern: boolean): string {
  const params = { name: 'get_app', arguments: { id }, ...(isModern && { _meta: envelope }) }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const modern = {
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': 'get_app',
  }
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(isModern ? modern : { 'mcp-protocol-version': '2025-11-25' }),
  }
  return requestFor('/mcp', headers, body)
}

/** Measures a tools/call of get_app in both revisions against the same GET /apps/{id}. */
export async function bench(): Promise<BenchRow[]> {
  const ctx = await startBerthServer()
  const { id, key } = await publishOn(ctx, pageOf(2_000))
  const authorization = `Bearer ${key}`
  const requests = [
    requestFor(`/api/apps/${id}`, { authorization }),
    callFor(id, authorization, true),
    callFor(id, authorization, false),
  ]
  const [rest = [], ...calls] = await runLoad({
    connections: 32,
    turnMs: 150,
    rounds: 15,
    targets: requests.map((request) => targetAt(ctx, request)),
  })
  await ctx.stop()
  return calls.map((ours, at) => {
    const costs = `${costUs(ours).toFixed(0)} us of CPU vs. ${costUs(rest).toFixed(0)} us`
    const name = `tools/call get_app, ${at === 0 ? revision : '2025-11-25'}, vs. GET /apps/{id} (${costs})`
    return atLeast(name, ratio(ours, rest), limit)
  })
}
