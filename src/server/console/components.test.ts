import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import type { UpstreamHealth } from '../../gateway/providers/monitored-upstream.ts'
import type { AppContext } from '../../kernel/context.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { OtherServers } from '../../kernel/db/replicas/other-servers.ts'
import { replicas } from '../../kernel/db/replicas/tables.ts'
import { Signals } from '../../kernel/db/signals.ts'
import { observedWindows } from '../../kernel/state/tables.ts'
import { minute } from '../../kernel/time.ts'
import { type FormBrowser, signInOperator } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'
import { closeContext, createContext } from '../context.ts'
import { listMetrics, recordMetrics } from '../operator/metrics-history.ts'
import { respond } from '../operator/respond.ts'

const health: UpstreamHealth = {
  name: 'demo',
  kind: 'demo',
  state: 'open',
  answers: 40,
  failures: 1_500,
  answeredAt: undefined,
  lastFailure: { at: Date.UTC(2026, 4, 4, 11), why: 'status 503' },
}

/** Opens the memory of one more server of the database. */
async function openOther({ ctx, clock }: TestServer): Promise<AppContext> {
  const db = Object.create(ctx.db, { close: { value: async () => undefined } })
  const opened = await createContext(ctx.config, 'http://localhost:3001', {
    db,
    clock,
    log: ctx.log,
  })
  const signals = new Signals({ db, clock, log: ctx.log })
  const upstreams = Object.create(opened.upstreams, { health: { value: () => [health] } })
  const otherServers = new OtherServers({ ...ctx, signals }, 'other:3001', 'other')
  const other = { ...opened, signals, otherServers, upstreams }
  otherServers.handler = (name, input) => respond(other, name, input)
  return other
}

if (dialect === 'postgres')
  describe('the console of one of two servers', () => {
    let t: TestServer
    let other: AppContext
    let olga: FormBrowser
    beforeAll(async () => {
      t = await startTestServer({ ALERT_DISK_FREE_BYTES: '0' })
      olga = await signInOperator(t)
      other = await openOther(t)
      const row = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: 0 }
      await t.ctx.db.tx((tx) => tx.insert(replicas).values(row))
      for (const { signals } of [t.ctx, other]) signals.start()
      await until(() => t.ctx.signals.isLive && other.signals.isLive)
    })
    afterAll(async () => {
      await closeContext(other)
      await t.close()
    })

    const open = async (path: string): Promise<string> => (await olga.show(`/console${path}`)).text

    /** Opens a page again while the other server is too slow. */
    const page = (path: string): Promise<string> =>
      until(async () => {
        const text = await open(path)
        return !/did not respond|may remember it/.test(text) && text
      })

    const addRequest = (id: string, status: number, cause?: string) =>
      other.state.observations.addRequest('api', true, {
        id,
        at: t.clock.now() + 1,
        method: 'GET',
        route: '/api/elsewhere',
        status,
        ms: 12,
        key: undefined,
        account: undefined,
        address: '198.51.100.9',
        cause,
      })

    test('has the requests and errors of both, with the name of the server', async () => {
      addRequest('elsewhere-1', 200)
      addRequest('elsewhere-2', 503, `TypeError: ${'long '.repeat(500)}`)
      const call = { requestId: 'elsewhere-1', model: 'm', upstream: 'u', firstByteMs: 3, ms: 9 }
      other.state.observations.addModelCall({ ...call, status: 'completed' })
      const all = await page('/requests')
      expect(all).toMatch(/GET \/api\/elsewhere.*other:3001.*\/welcome\/:code/)
      expect(all).toContain(`${t.ctx.otherServers.ownName} `)
      const filtered = (await olga.show('/console/requests?who=198.51.100.9&status=2')).hrefs
      expect(filtered).toContain('/console/requests/elsewhere-1')
      expect(filtered).not.toContain('/console/requests/elsewhere-2')
      expect(await page('/errors')).toMatch(/Newest server errors.*TypeError.*other:3001/)
      const details = await page('/requests/elsewhere-1')
      expect(details).toMatch(/198\.51\.100\.9.*other:3001.*First byte of the upstream/)
      expect(await page('/requests/nothing')).toContain('older than what this server remembers')
    })

    test('adds up clients and upstreams, and lists the servers', async () => {
      const client = { prefix: '203.0.113.0/24', charge: () => undefined }
      const own = t.ctx.state.costs.spendingOf('address', client.prefix).requests
      other.state.costs.charge(client, 'requests', 5_000)
      t.ctx.state.costs.charge(client, 'requests', 4_000 - own)
      other.state.costs.charge({ ...client, prefix: '198.51.100.0/24' }, 'bytes', 7e9)
      const clients = await page('/clients')
      // The page itself is a request, too.
      expect(clients).toMatch(/203\.0\.113\.0\/24.* 9K /)
      expect(clients).toMatch(/198\.51\.100\.0\/24.* 6\.5 GB /)
      const upstreams = await page('/upstreams')
      expect(upstreams).toMatch(/paused.*other:3001.* 1\.5K .*status 503/)
      const overview = await olga.show('/console')
      expect(overview.text).toContain('Servers (2)')
      expect(overview.text).toContain('Upstreams 1, 1 paused')
      const paused = overview.byRole('link', '1, 1 paused')
      expect(paused.attribute('href')).toBe('/console/upstreams')
      expect(await page('/alerts')).toMatch(/alert.*other:3001: Upstreams are paused: demo/)
    })

    test('adds up the history of metrics, also of a server that has ended', async () => {
      await recordMetrics(t.ctx)
      const { samples } = t.ctx.state.metricsHistory
      const counts = { jobs: [3], upstreamErrors: [2], income: [7, 5], free: [1], lateMs: [9_000] }
      const is = eq(observedWindows.name, 'samples')
      const rows = await t.ctx.db.read.select().from(observedWindows).where(is)
      expect(rows.map(({ counts: { free = [] } }) => free[0])).toEqual([samples[0]?.free])
      const at = t.clock.now()
      const ended = { process: 'ended', name: 'samples' }
      await t.ctx.db.tx((tx) =>
        tx.insert(observedWindows).values([
          { ...ended, at, counts },
          { ...ended, at: at + minute, counts: { ...counts, jobs: [10], upstreamErrors: [6] } },
        ]),
      )
      t.clock.advance(minute)
      const points = await listMetrics(t.ctx, { ms: 3 * minute, points: 3 })
      expect(points.at(-1)).toMatchObject({ jobs: 7, upstreamErrors: 4, free: 1, lateMs: 9_000 })
      t.clock.advance(10 * minute)
      const later = await listMetrics(t.ctx, { ms: 3 * minute, points: 3 })
      expect(later.at(-1)).toMatchObject({ jobs: 0, upstreamErrors: 0 })
      expect(later.at(-1)?.free).toBeGreaterThan(1)
    })

    test('says that a server did not respond, and omits one that has ended', async () => {
      const { handler } = other.otherServers
      other.otherServers.handler = undefined
      const requests = await open('/requests')
      expect(requests).toContain('1 of 2 servers did not respond')
      expect(requests).not.toContain('elsewhere')
      other.otherServers.handler = handler
      await t.ctx.db.tx((tx) => tx.delete(replicas))
      const alone = await open('/requests')
      expect(alone).not.toContain('did not respond')
      expect(alone).not.toContain('other:3001')
      expect(await open('')).not.toContain('Servers (')
    })
  })
