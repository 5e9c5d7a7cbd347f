import { afterAll, describe, expect, test } from 'bun:test'

import type { DescribedOperation } from '../server/http/api-description.ts'
import { startTestServer, type TestResponse } from './fixtures/test-server.ts'
import { getDocument, listOperations } from './openapi/document.ts'

const html = '<!doctype html><title>Boats</title><p>hello</p>'

interface Row {
  method: string
  path: string
  auth: 'none' | 'key'
  /** Success statuses from document 1. */
  done: number[]
  /** Errors from section 4. Operations with a key add those of group C. */
  codes: Record<string, number>
  /** A successful call and the fields of its body. */
  call: () => Promise<TestResponse>
  gives: object
}

const groupC = {
  no_key: 401,
  bad_key: 401,
  wrong_key_kind: 403,
  account_closed: 403,
  agents_off: 404,
  rate_limited: 429,
}
const text: unknown = expect.any(String)
const app = { id: expect.stringMatching(/^[A-Za-z0-9_-]{12}$/), link: text, version: 1, icon: null }
const agent = { handle: text, about: null, credits: 400, unread: 0, page: text }

const ctx = await startTestServer()
const ann = await ctx.agent('ann')
const id = await ann.publish()
const operations = listOperations(await getDocument(ctx))
afterAll(() => ctx.close())

/** All operations of document 1, section 4. */
const rows: Record<number, Row> = {
  1: {
    method: 'GET',
    path: '/on',
    auth: 'none',
    done: [200],
    codes: {},
    call: () => ctx.call('GET', '/on'),
    gives: { on: true },
  },
  2: {
    method: 'GET',
    path: '/',
    auth: 'none',
    done: [200],
    codes: { agents_off: 404 },
    call: () => ctx.call('GET', '/'),
    gives: { urls: { docs: text, openapi: text, mcp: text }, quickstart: expect.any(Array) },
  },
  3: {
    method: 'GET',
    path: '/openapi.json',
    auth: 'none',
    done: [200],
    codes: { agents_off: 404 },
    call: () => ctx.call('GET', '/openapi.json'),
    gives: { openapi: '3.1.0', info: { version: '1.0.0' } },
  },
  4: {
    method: 'POST',
    path: '/keys',
    auth: 'none',
    done: [201],
    codes: {
      bad_handle: 400,
      agents_off: 404,
      handle_taken: 409,
      keys_address_limit: 429,
      keys_daily_limit: 429,
      rate_limited: 429,
    },
    call: () => ctx.call('POST', '/keys'),
    gives: { agent, key: expect.stringMatching(/^ak_[A-Za-z0-9]{40}$/), claim: { url: text } },
  },
  5: {
    method: 'GET',
    path: '/me',
    auth: 'key',
    done: [200],
    codes: {},
    call: () => ann.call('GET', '/me'),
    gives: { ...agent, apps: [{ id: expect.any(String) }], spend: { builds: 0 }, limits: {} },
  },
  6: {
    method: 'PATCH',
    path: '/me',
    auth: 'key',
    done: [200],
    codes: { bad_request: 400, not_ready: 503 },
    call: () => ann.call('PATCH', '/me', { about: null }),
    gives: { about: null, page: text },
  },
  7: {
    method: 'POST',
    path: '/me/claim',
    auth: 'key',
    done: [201],
    codes: { not_an_agent: 400, already_claimed: 409 },
    call: () => ann.call('POST', '/me/claim'),
    gives: { claim: { url: text }, note: text },
  },
  8: {
    method: 'GET',
    path: '/apps',
    auth: 'key',
    done: [200],
    codes: {},
    call: () => ann.call('GET', '/apps'),
    gives: { apps: [app] },
  },
  9: {
    method: 'POST',
    path: '/apps',
    auth: 'key',
    done: [201],
    codes: {
      bad_request: 400,
      games_off: 400,
      not_enough_credits: 402,
      daily_cap: 402,
      busy: 409,
      too_large: 413,
      blocked_by_scan: 422,
      no_builder: 503,
      publishes_limit: 429,
    },
    call: () => ann.call('POST', '/apps', { html, kind: 'game', store: true }),
    gives: { app: { ...app, kind: 'game', store: true }, scan: { verdict: 'clean' }, note: text },
  },
  10: {
    method: 'GET',
    path: '/apps/{id}',
    auth: 'key',
    done: [200],
    codes: { not_found: 404, taken_down: 410 },
    call: () => ann.call('GET', `/apps/${id}`),
    gives: { app },
  },
  11: {
    method: 'PATCH',
    path: '/apps/{id}',
    auth: 'key',
    done: [200],
    codes: { bad_request: 400, not_found: 404, taken_down: 410, not_listable: 422 },
    call: () => ann.call('PATCH', `/apps/${id}`, { title: 'Boats', store: true }),
    gives: { app: { ...app, title: 'Boats', listed: 'on' }, note: text },
  },
  12: {
    method: 'POST',
    path: '/apps/{id}/remix',
    auth: 'key',
    done: [201],
    codes: {
      not_enough_credits: 402,
      price_above_max: 402,
      no_remix: 403,
      paused: 403,
      busy: 409,
      not_found: 404,
      taken_down: 410,
      blocked_by_scan: 422,
      publishes_limit: 429,
    },
    call: () => ann.call('POST', `/apps/${id}/remix`, { maxCredits: 0, ref: 'remix-0001' }),
    gives: { app, html: text, bought: { item: text, credits: 0 }, note: text },
  },
  13: {
    method: 'PUT',
    path: '/apps/{id}/icon',
    auth: 'key',
    done: [200],
    codes: {
      bad_request: 400,
      not_enough_credits: 402,
      taken_down: 410,
      too_big: 413,
      bad_picture: 422,
      try_again: 503,
      not_found: 404,
    },
    call: () => ann.call('PUT', `/apps/${id}/icon`, { make: true }),
    gives: { icon: text, credits: 0, free: true, note: text },
  },
  14: {
    method: 'DELETE',
    path: '/apps/{id}/icon',
    auth: 'key',
    done: [200],
    codes: { not_found: 404, taken_down: 410 },
    call: () => ann.call('DELETE', `/apps/${id}/icon`),
    gives: { icon: null },
  },
  15: {
    method: 'GET',
    path: '/apps/{id}/assets',
    auth: 'key',
    done: [200],
    codes: { assets_off: 404, not_found: 404, taken_down: 410 },
    call: () => ann.call('GET', `/apps/${id}/assets`),
    gives: {
      version: 1,
      assets: [],
      waiting: [],
      note: text,
      used: { files: 0, bytes: 0 },
      limits: { fileBytes: 4_194_304, files: 300, appBytes: 67_108_864 },
    },
  },
}

/** Codes and statuses of document 1, section 7. */
const section7: Record<string, number[]> = {
  agents_off: [404],
  bad_handle: [400],
  handle_taken: [409],
  keys_address_limit: [429],
  keys_daily_limit: [429],
  bad_request: [400],
  not_an_agent: [400],
  already_claimed: [409],
  games_off: [400],
  not_enough_credits: [402],
  daily_cap: [402],
  busy: [409],
  too_large: [413],
  blocked_by_scan: [422],
  not_listable: [422],
  taken_down: [410],
  no_builder: [503],
  not_ready: [503],
  try_again: [503],
  assets_off: [404],
  no_key: [401],
  bad_key: [401],
  wrong_key_kind: [403],
  account_closed: [403],
  too_big: [413],
  bad_picture: [422],
  no_picture: [502, 503],
  no_studio: [503],
  builds_limit: [429],
  no_remix: [403],
  paused: [403],
  price_above_max: [402],
  not_found: [404],
  rate_limited: [429],
  publishes_limit: [429],
}

/** Returns the codes in an operation's description, each with its status. */
const codesOf = ({ responses }: DescribedOperation): [code: string, status: number][] =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) =>
      description.split(', ').map((code): [string, number] => [code, Number(status)]),
    )

const described = (row: Row): DescribedOperation | undefined =>
  operations.find(({ method, path }) => method === row.method && path === row.path)

describe('section 4, operation', () => {
  const numbered = Object.entries(rows).map(([number, row]): [string, Row] => [
    `${number}: ${row.method} ${row.path}`,
    row,
  ])

  test.each(numbered)('%s is described and matches document 1', (_, row) => {
    const operation = described(row)
    expect(operation?.security).toEqual(row.auth === 'key' ? [{ key: [] }] : [])
    const statuses = Object.keys(operation?.responses ?? {}).map(Number)
    expect(statuses).toEqual(expect.arrayContaining(row.done))
    const codes = Object.fromEntries(operation ? codesOf(operation) : [])
    expect(codes).toMatchObject({ ...row.codes, ...(row.auth === 'key' && groupC) })
  })

  test.each(numbered)('%s responds and matches document 1', async (_, row) => {
    const response = await row.call()
    expect(row.done).toContain(response.status)
    expect(response.body).toMatchObject(row.gives)
  })

  test.each(numbered)('%s needs its key, or none', async (_, row) => {
    const path = row.path.replace('{id}', id)
    const { code } = await ctx.call(row.method, path, { from: '192.0.2.200' })
    expect(code).toBe(row.auth === 'key' ? 'no_key' : undefined)
  })
})

describe('section 7', () => {
  test('each error code has its status in every description', () => {
    const own = new Map<string, Set<number>>()
    for (const [code, status] of operations.flatMap(codesOf)) {
      own.set(code, (own.get(code) ?? new Set()).add(status))
    }
    for (const [code, statuses] of Object.entries(section7)) {
      expect([code, [...(own.get(code) ?? [])]]).toEqual([code, statuses])
    }
    for (const [code, statuses] of own) {
      expect([code, statuses.size]).toEqual([code, section7[code]?.length ?? 1])
    }
  })
})

describe('section 5', () => {
  test('a key is sent as a bearer token or in X-API-Key, never in the URL', async () => {
    const { key } = ann
    const statusOf = async (headers: Record<string, string>, query = '') =>
      (await ctx.call('GET', `/me${query}`, { headers })).status
    expect(await statusOf({ authorization: `bearer  ${key}` })).toBe(200)
    expect(await statusOf({ 'x-api-key': key })).toBe(200)
    expect(await statusOf({ authorization: key })).toBe(401)
    expect(await statusOf({ authorization: `Basic ${btoa(`${key}:`)}` })).toBe(401)
    expect(await statusOf({}, `?key=${key}&api_key=${key}`)).toBe(401)
  })
})

describe('every response', () => {
  test('can be read from any origin, without cookies', async () => {
    const origin = { origin: 'https://elsewhere.test' }
    for (const path of ['/on', '/me', '/no/such']) {
      const { headers } = await ctx.call('GET', path, { headers: origin })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.has('access-control-allow-credentials')).toBe(false)
      expect(headers.get('access-control-expose-headers')).toBe('*')
    }
    const preflightHeaders = { ...origin, 'access-control-request-method': 'PATCH' }
    const preflight = await ctx.call('OPTIONS', `/apps/${id}`, { headers: preflightHeaders })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, *')
  })

  test('is not cached across callers and has the declared type', async () => {
    const headers = { 'x-api-key': ann.key }
    const responses = [
      ...(await Promise.all(
        ['/me', '/on', '/no/such'].map((path) => ctx.call('GET', path, { headers })),
      )),
      await ctx.request('GET', '/v1/accounts/keys', { headers }),
    ]
    for (const response of responses) {
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
    const shared = await ctx.call('GET', '/openapi.json')
    expect(shared.headers.get('cache-control')).toBe('no-cache')
  })

  test('is one log line without key and body', async () => {
    const before = ctx.lines.length
    const { headers } = await ann.call('PATCH', `/apps/${id}`, { title: 'A secret title' })
    expect(ctx.lines.slice(before)).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'request',
        method: 'PATCH',
        route: '/api/apps/:id',
        id: headers.get('x-request-id'),
        status: 200,
        key: ann.key.slice(0, 11),
        address: ann.from,
      }),
    ])
    const log = JSON.stringify(ctx.lines)
    expect(log).not.toContain(ann.key)
    expect(log).not.toContain('A secret title')
  })
})
