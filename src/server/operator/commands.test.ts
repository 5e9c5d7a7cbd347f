import { expect, test } from 'bun:test'

import { createReport } from '../../apps/moderation/reports.ts'
import { hour } from '../../kernel/time.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { runCommand } from './control.ts'

test('decisions print what they changed and fail where nothing changes', async () => {
  const { ctx, request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  const admin = (...words: string[]) => runCommand(ctx, { command: 'admin', words })
  const nothing = 'AAAAAAAAAAAA'
  expect(await admin('takedown', nothing, 'spam')).toEqual({
    ok: false,
    text: `Nothing to takedown: ${nothing} does not exist or is already in that state.`,
  })
  expect((await admin('restore', id)).ok).toBe(false)
  expect(await admin('takedown', id, 'spam', 'and', 'scam')).toEqual({
    ok: true,
    text: `${id} is taken down.`,
    data: { decision: 'takedown', item: id, effect: 'is taken down' },
  })
  expect((await ann.call('GET', `/apps/${id}`)).code).toBe('taken_down')
  expect((await request('GET', `/a/${id}`)).status).toBe(410)
  expect((await admin('restore', id)).text).toBe(`${id} is live again.`)
  expect((await ann.call('GET', `/apps/${id}`)).status).toBe(200)
  expect((await admin('pause', '@ann')).text).toBe('@ann cannot spend credits now.')
  expect((await admin('resume', '@ann')).text).toBe('@ann can spend credits again.')
  expect((await admin('pause', '@nobody')).ok).toBe(false)
  expect((await admin('show', '@nobody')).ok).toBe(false)
  expect((await admin('show', id)).text).toContain('takedown  ' + id + '  spam and scam')
  expect((await admin('show', '@ann')).text).toMatch(/command line {2}pause {2}@ann/)
  await runCommand(ctx, { command: 'grant', words: ['@ann', '1.5'] })
  expect((await admin('audit', '@ann')).text).toMatch(/command line {2}grant {2}@ann {2}1.5 USD/)
  await runCommand(ctx, { command: 'grant', words: ['@ann', '0.0000001'] })
  expect((await admin('audit', '@ann')).text).toContain('@ann  0.0000001 USD')
  expect((await admin('list')).text).toBe('The queue is empty.')
  expect((await admin('rescan', id)).text).toBe(`${id} will be scanned again.`)
  expect((await admin('rescan', 'all')).ok).toBe(true)
  expect((await admin('rescan', nothing)).ok).toBe(false)
  for (const words of [
    ['takedown', id],
    ['decide', id, 'maybe', 'fine'],
    ['toString'],
    ['block', 'x', 'y'],
    [],
  ]) {
    expect((await admin(...words)).text).toStartWith('usage: berth admin list')
  }
  expect((await admin('pause', id)).ok).toBe(false)
  expect((await runCommand(ctx, { command: 'toString', words: [] })).ok).toBe(false)
  await close()
})

test('programs read the queue, cases and decisions of the operator as fields', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ title: 'Reef' })
  const admin = async (...words: string[]) =>
    (await runCommand(ctx, { command: 'admin', words })).data
  const report = { reason: 'copy', text: 'My art', contact: 'ben@mail.example' }
  await createReport(ctx, id, report, '192.0.2.7')
  const reported = { app: id, at: expect.any(String), ...report }
  const empty = { quarantined: [], appeals: [], reports: [] }
  expect(await admin('list')).toEqual({ ...empty, reports: [reported] })
  expect(await admin('reports')).toEqual({ reports: [reported] })
  await admin('hold', id, 'links')
  const quarantine = { at: expect.any(String), by: 'operator', reason: 'links' }
  expect(await admin('list')).toMatchObject({ quarantined: [{ app: id, ...quarantine }] })
  expect(await ann.call('POST', `/apps/${id}/appeal`, { text: 'It is a game.' })).toMatchObject({
    status: 201,
  })
  const appeals = [{ app: id, at: expect.any(String), text: 'It is a game.' }]
  expect(await admin('appeals')).toEqual({ appeals })
  const made = { at: expect.any(String), by: 'command line', did: 'hold', item: id, why: 'links' }
  expect(await admin('show', id)).toMatchObject({
    app: { id, maker: '@ann', title: 'Reef', takenDown: null, quarantine },
    versions: [{ version: 1, findings: [], sha256: expect.any(String) }],
    // The decision answers them.
    reports: [],
    appeals,
    decisions: [made],
  })
  expect(await admin('audit', id)).toEqual({ decisions: [made] })
  await admin('pause', '@ann')
  expect(await admin('show', '@ann')).toMatchObject({
    agent: { handle: 'ann', pausedBy: 'operator', closed: null, suspended: null },
    apps: [{ id, title: 'Reef', quarantine }],
    decisions: [{ did: 'pause', item: '@ann' }],
  })
  expect(await admin('show', '@nobody')).toBeUndefined()
  await close()
})

test('grant and backup reject extra words and change nothing', async () => {
  const { ctx, agent, snapshot, close } = await startTestServer()
  await agent('ann')
  const before = await snapshot()
  for (const [command, ...words] of [
    ['grant', '@ann', '5', 'extra'],
    ['backup', '/tmp/berth-a', '/tmp/berth-b'],
  ]) {
    const outcome = await runCommand(ctx, { command: command ?? '', words })
    expect(outcome).toEqual({ ok: false, text: expect.stringContaining(`usage: berth ${command}`) })
  }
  expect(await snapshot()).toEqual(before)
  await close()
})

const runDoctor = async ({ ctx }: Pick<TestServer, 'ctx'>) =>
  runCommand(ctx, { command: 'doctor', words: [] })

test('doctor names an unknown proxy, a full disk and a wrong clock', async () => {
  const t = await startTestServer({ TRUSTED_PROXIES: '10.0.0.5' })
  await t.agent('ann')
  const send = (from: string) =>
    t.request('GET', '/', { from, headers: { 'x-forwarded-for': '203.0.113.7' } })
  await send('10.0.0.5')
  await send('203.0.113.80')
  const fine = await runDoctor(t)
  expect(fine.text).toContain('GB of disk space are free')
  expect(fine.ok).toBe(true)
  await send('10.0.0.9')
  const proxy = expect.stringContaining('A proxy at 10.0.0.9 sends X-Forwarded-For')
  expect(await runDoctor(t)).toEqual({
    ok: false,
    text: proxy,
    data: expect.objectContaining({ ok: false, problems: [proxy] }),
  })
  t.clock.advance(-2 * hour)
  expect((await runDoctor(t)).text).toContain('The clock of this machine is wrong')
  t.ctx.storage.free = () => 1_000
  const full = await runDoctor(t)
  expect(full.text.split('\n')).toContain('0.0 GB of disk space are free.')
  await t.close()
})
