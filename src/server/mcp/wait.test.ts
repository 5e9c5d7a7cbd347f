import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Type } from '@sinclair/typebox'

import { enqueue, type NewJob } from '../../jobs/jobs.ts'
import { zero } from '../../kernel/money.ts'
import { hour } from '../../kernel/time.ts'
import { type McpTestServer, startMcpTestServer } from '../../testing/fixtures/mcp-server.ts'

let t: McpTestServer
/** The running job waits for each gate in turn. */
let gates: PromiseWithResolvers<void>[]
beforeEach(async () => {
  t = await startMcpTestServer()
  gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  t.ctx.jobs.register('assets', 'media', async () => ({
    input: Type.Object({}),
    data: Type.Null(),
    async run({ report: note }) {
      for (const [at, gate] of gates.entries()) {
        if (at > 0) await note({ step: 'writing', progress: at / 4 })
        await gate.promise
      }
      return { end: 'done', record: async () => ({ version: 1 }) }
    },
  }))
})
afterEach(async () => {
  for (const gate of gates) gate.resolve()
  await t.ctx.jobs.runDue()
  await t.close()
})

async function createJob(key: string): Promise<string> {
  const owner = `agent:${(await t.ctx.keys.find(key))?.owner}` as const
  const newJob: NewJob = {
    kind: 'assets',
    queue: 'media',
    owner,
    item: 'Boats0000001',
    input: {},
    price: zero,
    ms: hour,
  }
  const job = await t.ctx.db.tx((db) => enqueue(t.ctx, db, newJob))
  return job.id
}

async function connect(mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(t.url)))
  return client
}

test.each(['auto', 'legacy'] as const)('get_job with wait reports progress, %s', async (mode) => {
  const { key } = await t.agent('ann')
  const id = await createJob(key)
  const client = await connect(mode)
  const seen: (string | undefined)[] = []
  const call = client.callTool(
    { name: 'get_job', arguments: { id, key, wait: 30 } },
    {
      onprogress: ({ progress, message }) => {
        seen.push(`${progress} ${message ?? ''}`.trim())
        // Each step begins after the client received the one before.
        gates[Math.round(progress * 4)]?.resolve()
      },
    },
  )
  gates[0]?.resolve()
  const ran = t.ctx.jobs.runDue()
  const { structuredContent } = await call
  await ran
  expect(structuredContent).toMatchObject({ job: { id, state: 'done', progress: 1 } })
  expect(seen).toEqual(expect.arrayContaining(['0.25 writing', '0.5 writing', '0.75 writing']))
  await client.close()
})

test('an open subscription ends when the server stops', async () => {
  const response = await fetch(t.url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  })
  const chunks = response.body?.values()
  const first = await chunks?.next()
  expect(new TextDecoder().decode(first?.value)).toContain('subscriptions/acknowledged')
  t.stopping()
  let rest = 0
  while (!(await chunks?.next())?.done) rest += 1
  expect(rest).toBeLessThan(5)
})
