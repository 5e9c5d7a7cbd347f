import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { claimTriesPerHour } from '../../kernel/limits.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { catchError } from '../catch-error.ts'
import { hiddenFields } from '../fixtures/form-browser.ts'
import { password } from '../fixtures/people.ts'
import { openSession } from '../fixtures/realtime-client.ts'
import { type ServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Replicas, startReplicas } from './replicas.ts'

const hello = (model: string) => ({
  model: `fake/${model}`,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello.' }],
})

if (dialect === 'postgres')
  describe('what servers remember', () => {
    let r: Replicas
    let a: ServerProcess
    let b: ServerProcess
    beforeAll(async () => {
      r = await startReplicas(2, {
        env: { REQUESTS_PER_MINUTE: '200', STOP_DELAY_SECONDS: '2' },
      })
      const [first, second] = r.servers
      if (!first || !second) throw new Error('No servers.')
      a = first
      b = second
    }, 60_000)
    afterAll(() => r.close())

    const chat = async (server: ServerProcess, key: string, model = 'ok') =>
      (await server.call('POST', '/v1/chat/completions', key, hello(model))).status

    /**
     * Follows a new app at `b`. The returned function publishes a version at `a` and waits until
     * `b` says so. Signals keep their order, so `b` then knows all that `a` changed before.
     */
    async function followApp(): Promise<() => Promise<void>> {
      const key = await a.newKey()
      const sent = { html: '<!doctype html><title>Mark</title>' }
      const made: unknown = await (await a.call('POST', '/api/apps', key, sent)).json()
      const id = textAt(made, 'app.id')
      const reader = (await fetch(`${b.origin}/a/${id}/now`)).body?.getReader()
      const read = async () => new TextDecoder().decode((await reader?.read())?.value)
      expect(await read()).toBe('data: 1\n\n')
      let version = 1
      return async () => {
        version += 1
        await a.call('POST', `/api/apps/${id}/versions`, key, sent)
        expect(await read()).toBe(`data: ${version}\n\n`)
      }
    }

    test('a revoked key and a lowered cap are seen by the others before a later change', async () => {
      const changeAfter = await followApp()
      const main = await r.newGatewayKey()
      const made = await (await a.call('POST', '/v1/accounts/keys', main, {})).json()
      const [key, id] = [textAt(made, 'api_key'), textAt(made, 'id')]
      expect(await chat(b, key)).toBe(200)
      const capped = await a.call('PATCH', `/v1/accounts/keys/${id}`, main, { daily_cap: 0 })
      expect(capped.status).toBe(200)
      await changeAfter()
      expect(await chat(b, key)).toBe(429)
      await a.call('DELETE', `/v1/accounts/keys/${id}`, main)
      await changeAfter()
      expect(await chat(b, key)).toBe(401)
    })

    const closing = { password: { password }, people: {}, instance: {} }
    test.each(Object.entries(closing))(
      'an app that is closed by the audience %s ends its open pages at the other server',
      async (audience, more) => {
        const key = await a.newKey()
        const html = '<!doctype html><title>Plan</title><script src=a.js></script>'
        const files = [
          { path: 'index.html', text: html },
          { path: 'a.js', text: 'document.title = "Plan"' },
        ]
        const sent = { files, uses: ['db', 'room'] }
        const published = await (await a.call('POST', '/api/apps', key, sent)).json()
        const id = textAt(published, 'app.id')
        const statusOf = async (path: string) => (await fetch(b.origin + path)).status
        const open = () => statusOf(`/a/${id}/data`)
        await until(async () => (await open()) === 200)
        const list: unknown = await (await fetch(`${b.origin}/a/${id}/files`)).json()
        const file = textAt(list, 'frame').replace('?wrapper', 'a.js')
        expect(await statusOf(file)).toBe(200)
        const reader = (await fetch(`${b.origin}/a/${id}/now`)).body?.getReader()
        const read = async () => new TextDecoder().decode((await reader?.read())?.value)
        expect(await read()).toBe('data: 1\n\n')
        const joined = await b.call('POST', `/api/apps/${id}/player`, undefined, {})
        const cookie = joined.headers.getSetCookie()[0]?.split(';')[0] ?? ''
        const live = `${b.origin}/api/apps/${id}/live`
        const page = await openSession(live, { headers: { cookie } })
        page.send('join', { room: 'lobby' })
        await page.next('room')
        const change = { audience, ...more }
        await a.call('PATCH', `/api/apps/${id}/audience`, key, change)
        expect(await read()).toBe('data: closed\n\n')
        await page.closed
        const pages = ['install', 'manifest.webmanifest', 'offline']
        const others = [file, ...pages.map((name) => `/a/${id}/${name}`), `/report/${id}`]
        for (const path of [`/a/${id}/data`, ...others])
          expect([path, await statusOf(path)]).toEqual([path, 404])
        expect(await catchError(openSession(live, { headers: { cookie } }))).toBeInstanceOf(Error)
      },
      30_000,
    )

    test('a charged failure is not charged again by another server', async () => {
      const key = await r.newGatewayKey()
      const changeAfter = await followApp()
      const before = r.fake.received.length
      expect(await chat(a, key, 'bad-json')).toBe(502)
      await changeAfter()
      expect(await chat(b, key, 'bad-json')).toBe(502)
      expect(r.fake.received.length).toBe(before + 1)
    })

    test('a block by a command on another machine is seen by all', async () => {
      const key = await a.newKey()
      expect((await b.call('GET', '/api/me', key)).status).toBe(200)
      await r.command(['admin', 'ban', `key:${key.slice(0, 11)}`, 'spam'])
      for (const server of [a, b]) {
        await until(async () => (await server.call('GET', '/api/me', key)).status === 429)
      }
    })

    test('wrong claim codes count together', async () => {
      const codes: string[] = []
      for (let at = 0; at < claimTriesPerHour + 4; at += 1) {
        const server = at % 2 === 0 ? a : b
        const body: unknown = await (await server.call('GET', '/api/claim/AAAA-AAAA-AAAA')).json()
        codes.push(String(recordOf(body).code))
      }
      const wrong = codes.filter((code) => code === 'bad_code')
      expect(wrong).toHaveLength(claimTriesPerHour)
      expect(codes.slice(-4)).toEqual(Array.from({ length: 4 }, () => 'claim_locked'))
    })

    test('the requests of an address count together', async () => {
      const from = { 'x-forwarded-for': '198.51.100.77' }
      const send = ({ origin }: ServerProcess) => fetch(`${origin}/api/explore`, { headers: from })
      /** The calls of the address that the servers have told each other. */
      const shared = async (): Promise<number> => {
        const [row] =
          await r.sql`select max(now) from limit_windows where name like '% 198.51.100%'`
        return Number(row?.max ?? 0)
      }
      let passed = 0
      for (let at = 0; at < 260; at += 1) {
        const { status } = await send(at % 2 === 0 ? a : b)
        if (status === 200) passed += 1
        const isAllShared = async () => (await shared()) >= passed
        if (at % 40 === 39) await until(isAllShared)
      }
      expect(passed).toBeGreaterThanOrEqual(200)
      expect(passed).toBeLessThan(245)
    }, 60_000)

    test('an item of a response is known to the other server', async () => {
      const key = await r.newGatewayKey()
      const sent = { model: 'fake/ok', input: 'Hello.', max_output_tokens: 100 }
      const made: unknown = await (await a.call('POST', '/v1/responses', key, sent)).json()
      const { output } = recordOf(made)
      const [item] = Array.isArray(output) ? output.filter(isRecord) : []
      const input = [
        { role: 'user', content: 'Hello.' },
        { type: 'item_reference', id: item?.id },
        { role: 'user', content: 'Again.' },
      ]
      const again = await b.call('POST', '/v1/responses', key, { ...sent, input })
      expect([again.status, await again.text()]).toEqual([200, expect.any(String)])
    })

    /** Opens a form at one server and sends it to another. Returns the cookies afterwards. */
    async function submit(
      path: string,
      fields: Record<string, string>,
      { origin: from }: ServerProcess,
      { origin: to }: ServerProcess,
    ) {
      const opened = await fetch(from + path)
      const cookiesOf = ({ headers }: Response) =>
        headers.getSetCookie().map((line) => line.split(';')[0])
      const cookies = cookiesOf(opened)
      const { token = '' } = hiddenFields(await opened.text(), path)
      expect(token).not.toBe('')
      const sent = await fetch(to + path, {
        method: 'POST',
        headers: { origin: 'http://replicas.test', cookie: cookies.join('; ') },
        body: new URLSearchParams({ token, ...fields }),
      })
      return { status: sent.status, cookie: [...cookies, ...cookiesOf(sent)].join('; ') }
    }

    test('a form of one server is accepted by the other', async () => {
      const sent = await submit('/sign-up', { name: 'olga', password: 'no' }, a, b)
      expect(sent.status).not.toBe(403)
    })

    test('the console of one server shows the requests of the other', async () => {
      const link = new URL(a.operatorUrl ?? b.operatorUrl ?? '').pathname
      const signedIn = await submit(link, { name: 'olga', password }, a, b)
      expect(signedIn.status).toBe(200)
      const missing = `/api/apps/${'B'.repeat(12)}`
      expect((await b.call('GET', missing, await b.newKey())).status).toBe(404)
      const shown = new RegExp(`GET /api/apps/:id[^]*:${new URL(b.origin).port}`)
      await until(async () => {
        const headers = { cookie: signedIn.cookie }
        const page = await fetch(`${a.origin}/console/requests?status=4`, { headers })
        return shown.test(await page.text())
      })
    })

    test('a server that stops is not ready, still answers, and leaves nothing', async () => {
      const readyz = () => fetch(`${b.origin}/readyz`)
      expect((await readyz()).status).toBe(200)
      b.kill('SIGTERM')
      await until(async () => (await readyz()).status === 503)
      expect((await fetch(`${b.origin}/healthz`)).status).toBe(200)
      expect(await b.exited).toBe(0)
      expect(await r.sql`select 1 from replicas`).toHaveLength(1)
      expect(await (await fetch(`${a.origin}/readyz`)).json()).toMatchObject({ ok: true })
    }, 60_000)
  })
