import { afterAll, beforeEach, describe, expect, test } from 'bun:test'

import { catchError } from '../testing/catch-error.ts'
import { internalHosts } from '../testing/fixtures/internal-hosts.ts'
import {
  fetchGuarded,
  GuardedFetchError,
  isPublicAddress,
  type Network,
  publicUrl,
} from './fetch.ts'

describe('an outgoing address', () => {
  test.each(internalHosts)('is never %s', (host) => {
    for (const url of [`http://${host}/`, `https://${host}:8443/a?b`, `http://x:y@${host}/`]) {
      expect(publicUrl(url)).toBeUndefined()
    }
  })

  test('is http or https', () => {
    const odd = ['file:///etc/passwd', 'ftp://a.example/', 'gopher://a.example/', '//a.example/']
    for (const url of [
      ...odd,
      'a.example',
      '',
      'http://',
      'javascript:1',
      'http://[::1',
      'unix:/x',
    ]) {
      expect(publicUrl(url)).toBeUndefined()
    }
    for (const url of [
      'https://a.example/b.png',
      'http://8.8.8.8/',
      'http://[2606:4700::1111]:80/',
    ]) {
      expect(publicUrl(url)?.href).toBe(new URL(url).href)
    }
  })

  test('may be next to a private network', () => {
    const outside = [
      '172.15.0.1',
      '172.32.0.1',
      '11.0.0.1',
      '126.0.0.1',
      '128.0.0.1',
      '169.253.1.1',
    ]
    for (const address of [
      ...outside,
      '192.167.1.1',
      '100.63.0.1',
      '100.128.0.1',
      '223.255.255.1',
    ]) {
      expect([address, isPublicAddress(address)]).toEqual([address, true])
    }
    for (const none of ['', 'a.example', '1.2.3', '::ffff:8.8.8.8']) {
      expect(isPublicAddress(none)).toBe(false)
    }
  })
})

describe('a guarded fetch', () => {
  let touched = 0
  const canary = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void (touched += 1), data: (socket) => void socket.end() },
  })
  let response: (request: Request) => Response
  const seen: { url: string; key: string | null }[] = []
  const handle = (request: Request): Response => {
    seen.push({ url: request.url, key: request.headers.get('authorization') })
    return response(request)
  }
  // What stands for the open internet in these tests.
  const outside = '127.0.0.2'
  const server = Bun.serve({ hostname: outside, port: 0, fetch: handle })
  afterAll(() => {
    canary.stop(true)
    server.stop(true)
  })
  beforeEach(() => {
    touched = 0
    seen.length = 0
    response = () => new Response('hello')
  })

  /** A network in which names resolve to these addresses, with one list for each lookup. */
  const netOf = (...times: string[][]): Network => ({
    resolve: async () => (times.length > 1 ? times.shift() : times[0]) ?? [],
    isPublic: (address) => address === outside,
  })
  const site = `http://site.example:${server.port}`
  const never = new AbortController().signal
  const bounds = { bytesMax: 1_000, ms: 5_000 }
  const get = (url: string, net = netOf([outside]), more = {}) =>
    fetchGuarded(url, {}, { ...bounds, ...more }, never, net)
  const why = async (work: Promise<unknown>) => {
    const error = await catchError(work)
    return error instanceof GuardedFetchError ? error.reason : String(error)
  }

  test('connects to the resolved address with the name as host, without user information', async () => {
    const read = await get(`http://x:y@site.example:${server.port}/a?b`)
    expect([read.status, await read.text()]).toEqual([200, 'hello'])
    expect(seen).toEqual([{ url: `${site}/a?b`, key: null }])
  })

  test.each(internalHosts)('opens no connection to %s', async (host) => {
    const error = await why(fetchGuarded(`http://${host}:${canary.port}/`, {}, bounds, never))
    expect(['inside', 'address']).toContain(error.replace(/^.*ENOTFOUND.*$/, 'inside'))
    expect(touched).toBe(0)
  })

  test('blocks a name with one private address and resolves it once', async () => {
    expect(await why(get(site, netOf([outside, '127.0.0.1'])))).toBe('inside')
    expect(await why(get(site, netOf([])))).toBe('inside')
    const turned = `http://turns.example:${server.port}/`
    expect(await (await get(turned, netOf([outside], ['127.0.0.1']))).text()).toBe('hello')
    expect([touched, seen.length]).toEqual([0, 1])
  })

  test('follows a limited number of redirects to public addresses', async () => {
    const to = (location: string) => (response = () => Response.redirect(location, 302))
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'localhost']) {
      to(`http://${host}:${canary.port}/`)
      const net = netOf([outside], ['127.0.0.1'])
      expect(await why(get(site, net))).toBe('inside')
    }
    to('file:///etc/passwd')
    expect(await why(get(site))).toBe('address')
    to(`${site}/again`)
    seen.length = 0
    expect(await why(get(site))).toBe('redirects')
    expect(seen).toHaveLength(4)
    expect(await why(fetchGuarded(site, { method: 'POST' }, bounds, never, netOf([outside])))).toBe(
      'redirects',
    )
    response = ({ url }) =>
      url.endsWith('/b') ? new Response('there') : new Response('', redirectTo('/b'))
    expect(await (await get(`${site}/a`)).text()).toBe('there')
    expect(touched).toBe(0)
  })
  const redirectTo = (location: string) => ({ status: 307, headers: { location } })

  test('limits bytes and time', async () => {
    response = () => new Response('x'.repeat(1_001))
    expect(await why(get(site))).toBe('too_long')
    const bomb = Bun.gzipSync(new Uint8Array(10_000_000))
    response = () => new Response(bomb, { headers: { 'content-encoding': 'gzip' } })
    expect(await why(get(site, netOf([outside]), { bytesMax: 100_000 }))).toBe('too_long')
    response = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
    expect(await why(get(site, netOf([outside]), { ms: 50 }))).toMatch(/Timeout|timed out/)
  })
})
