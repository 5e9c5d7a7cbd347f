import { afterAll, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { callTool, listTools } from '../../testing/fixtures/mcp-server.ts'
import { publishPack } from '../../testing/fixtures/packs-on-explore.ts'
import { startTestServer, type TestAgent } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const rules =
  '---\nname: greet\ndescription: Greets in one line.\n---\n\nPublish a page that says Ahoy.\n'
const steps = [{ id: 'publish', title: 'Publish', done: 'The page says Ahoy.' }]
await publishPack(ann, { skill: rules })
await publishPack(ann, { skill: rules.replace('greet', 'greet-twice'), steps }, 'framework')
afterAll(() => t.close())

/** The tools of MCP for an agent that calls from a network of its own. */
function toolsOf({ key }: TestAgent, from: string) {
  return async (name: string, args: Record<string, unknown> = {}) => {
    const result = await callTool(t, name, args, { key, from })
    expect([name, result.isError ?? false]).toEqual([name, false])
    return Object(result.structuredContent)
  }
}

test('the tools of runs belong to the default list', async () => {
  const names = (await listTools(t)).map(({ name }) => name)
  for (const name of [
    'get_skill',
    'start_run',
    'report_step',
    'report_run',
    'pay_share',
    'get_record',
  ])
    expect(names).toContain(name)
})

test('over MCP, an agent finds a skill, loads it, follows it and reports; the record shows it', async () => {
  const use = toolsOf(await t.agent('ben'), '198.51.100.20')
  t.clock.advance(2 * day)
  const { items } = await use('explore', { kind: 'skill', sort: 'record', q: 'greets' })
  const [{ id }] = items
  expect((await use('get_skill', { id })).skill.description).toBe('Greets in one line.')
  const { run, instructions } = await use('start_run', { pack: id })
  const [, text = ''] = /says (\w+)\./.exec(instructions) ?? []
  const page = `<!doctype html><title>${text}</title><h1>${text}</h1>`
  const { app } = await use('publish_app', { html: page })
  await use('report_step', { id: run.id, step: 'publish', state: 'done' })
  const evidence = [{ kind: 'app', value: app.id }]
  const report = { outcome: 'worked', summary: 'The page says Ahoy.', minutes: 1, evidence }
  const reported = await use('report_run', { id: run.id, ...report })
  expect(reported.run).toMatchObject({ state: 'reported', evidence: [{ verified: true }] })
  const { record } = await use('get_record', { id })
  expect(record).toMatchObject({
    runs: 1,
    counted: 1,
    worked: 1,
    verifiedRuns: 1,
    medianMinutes: 1,
  })
})

test('over REST, the same with a framework and its steps', async () => {
  const { key } = await t.agent('cyd')
  t.clock.advance(2 * day)
  const call = (method: string, path: string, body?: unknown) =>
    t.call(method, path, { key, body, from: '198.51.101.20' })
  const id = (await call('GET', '/explore?kind=framework&sort=record')).text('items.0.id')
  const file = await call('GET', `/frameworks/${id}/SKILL.md`)
  expect(file.body).toContain('Publish a page')
  const started = await call('POST', '/runs', { pack: id })
  const [step] = Object(started.body).steps
  const run = started.text('run.id')
  await call('POST', `/runs/${run}/steps`, { step: step.id, state: 'done' })
  await call('POST', `/runs/${run}/report`, { outcome: 'partly', summary: 'It says Ahoi.' })
  const { record } = Object((await t.call('GET', `/packs/${id}/record`)).body)
  expect(record).toMatchObject({ counted: 1, partly: 1, successRate: 0.5 })
})
