import { afterAll, describe, expect, test } from 'bun:test'

import Anthropic, { toFile } from '@anthropic-ai/sdk'

import { catchError } from '../../testing/catch-error.ts'
import { startClientServer } from '../../testing/clients/server.ts'

const gateway = await startClientServer()
const origin = gateway.baseUrls[1] ?? ''
const client = new Anthropic({ baseURL: origin, apiKey: gateway.key, maxRetries: 0 })
afterAll(() => gateway.stop())

const get = async (path: string, headers: Record<string, string>): Promise<[number, unknown]> => {
  const response = await fetch(origin + path, { headers })
  return [response.status, await response.json()]
}
const version = { 'anthropic-version': '2023-06-01' }

describe('models', () => {
  test('have the fields of Anthropic', async () => {
    const expected = {
      type: 'model',
      id: 'demo/chat',
      display_name: expect.stringMatching(/./),
      created_at: '1970-01-01T00:00:00Z',
      max_input_tokens: expect.any(Number),
      max_tokens: expect.any(Number),
      capabilities: null,
      lifecycle: 'active',
      line: null,
      deprecated_at: null,
      retires_at: null,
    }
    const model: unknown = await client.models.retrieve('demo/chat')
    expect(model).toEqual(expected)
    for (const path of ['/v1/models/demo/chat', '/models/demo%2Fchat']) {
      expect(await get(path, version)).toEqual([200, expected])
      for (const headers of [{}, { 'x-api-key': gateway.key }]) {
        expect(await get(path, headers)).toMatchObject([200, { object: 'model' }])
      }
    }
    expect(await get('/v1/models', version)).toMatchObject([
      200,
      { data: expect.arrayContaining([expected]), has_more: false },
    ])
  })

  test('are five of them for a limit of five, with a next page', async () => {
    const all = (await client.models.list({ limit: 1_000 })).data
    expect(all.length).toBeGreaterThan(5)
    expect(await get('/v1/models?limit=5', version)).toEqual([
      200,
      { data: all.slice(0, 5), has_more: true, first_id: all[0]?.id, last_id: all[4]?.id },
    ])
  })

  test('are listed in pages, forwards and backwards', async () => {
    const all = (await client.models.list({ limit: 1_000 })).data.map(({ id }) => id)
    const first = await client.models.list({ limit: 2 })
    expect(first.data.map(({ id }) => id)).toEqual(all.slice(0, 2))
    expect(first).toMatchObject({ has_more: true, first_id: all[0], last_id: all[1] })
    const paged = await Array.fromAsync(client.models.list({ limit: 2 }))
    expect(paged.map(({ id }) => id)).toEqual(all)
    const before = await client.models.list({ limit: 2, before_id: all[3] ?? '' })
    expect(before.data.map(({ id }) => id)).toEqual(all.slice(1, 3))
    expect(before.has_more).toBe(true)
    const start = await client.models.list({ limit: 3, before_id: all[3] ?? '' })
    expect(start.data.map(({ id }) => id)).toEqual(all.slice(0, 3))
    expect(start.has_more).toBe(false)
    const last = await client.models.list({ after_id: all.at(-1) ?? '' })
    expect([last.data, last.has_more, last.first_id, last.last_id]).toEqual([[], false, null, null])
  })

  test('have errors of Anthropic', async () => {
    const missing = await catchError(client.models.retrieve('demo/none'))
    expect(missing).toBeInstanceOf(Anthropic.NotFoundError)
    expect(missing).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } })
    for (const [param, query] of [
      ['limit', 'limit=0'],
      ['limit', 'limit=1001'],
      ['after_id', 'after_id=demo/none'],
      ['before_id', 'before_id=demo/none'],
      ['before_id', 'before_id=demo/chat&after_id=demo/chat'],
      ['type', 'type=music'],
    ]) {
      expect([query, await get(`/v1/models?${query}`, version)]).toMatchObject([
        query,
        [400, { error: { type: 'invalid_request_error', details: { param } } }],
      ])
    }
    expect(await get('/v1/models/demo/none', {})).toMatchObject([
      404,
      { error: { param: 'model' } },
    ])
    const unknown = await get('/v1/files/a/b', version)
    expect(unknown).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }])
    expect(JSON.stringify(unknown)).toContain('/v1/files/a/b')
  })
})

describe('files', () => {
  const upload = async (name: string, more: { expires_in_seconds?: number } = {}) =>
    client.files.upload({ file: await toFile(Buffer.from('Low at nine.'), name), ...more })

  test('are uploaded, read and deleted in the format of Anthropic', async () => {
    const made = await upload('tides.txt', { expires_in_seconds: 7_200 })
    expect(made).toEqual({
      type: 'file',
      id: expect.stringMatching(/^file_/),
      filename: 'tides.txt',
      mime_type: expect.stringMatching(/^text\/plain/),
      size_bytes: 12,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      expires_at: expect.any(String),
      downloadable: true,
    })
    expect(Date.parse(made.expires_at ?? '') - Date.parse(made.created_at)).toBe(7_200_000)
    expect(await client.files.retrieveMetadata(made.id)).toEqual(made)
    expect(await (await client.files.download(made.id)).text()).toBe('Low at nine.')
    expect(await client.files.delete(made.id)).toEqual({ id: made.id, type: 'file_deleted' })
    expect(await catchError(client.files.retrieveMetadata(made.id))).toBeInstanceOf(
      Anthropic.NotFoundError,
    )
    const { id } = await upload('forever.txt')
    const bearer = { authorization: `Bearer ${gateway.key}` }
    for (const headers of [bearer, { 'x-api-key': gateway.key }]) {
      expect(await get(`/v1/files/${id}`, headers)).toMatchObject([200, { object: 'file' }])
    }
    await client.files.delete(id)
  })

  test('are listed in pages of both kinds', async () => {
    const ids: string[] = []
    for (const name of ['a.txt', 'b.txt', 'c.txt']) ids.unshift((await upload(name)).id)
    const paged = await Array.fromAsync(client.files.list({ limit: 2 }))
    expect(paged.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    const [first = '', , last = ''] = ids
    const some = await client.files.list({ ids: [first, last, 'file_AAAAAAAAAAAA'] })
    expect(some.data.map(({ id }) => id).toSorted()).toEqual([first, last].toSorted())
    const many = Array.from({ length: 101 }, () => first)
    expect(await catchError(client.files.list({ ids: many }))).toMatchObject({ status: 400 })
    const headers = { ...version, authorization: `Bearer ${gateway.key}` }
    const [, page] = await get('/v1/files?limit=2', headers)
    const { data, ...ends } = Object(page)
    expect(ends).toEqual({
      first_id: data[0].id,
      last_id: data[1].id,
      next_page: data[1].id,
      has_more: true,
    })
    const [, rest] = await get(`/v1/files?limit=2&after_id=${data[1].id}`, headers)
    expect(rest).toMatchObject({ data: [{ type: 'file' }], has_more: false, next_page: null })
    for (const id of ids) await client.files.delete(id)
  })

  test('have errors of Anthropic', async () => {
    expect(await catchError(upload('a.txt', { expires_in_seconds: 5 }))).toMatchObject({
      status: 400,
      error: { error: { details: { param: 'expires_in_seconds' } } },
    })
    expect(await get('/v1/files', { ...version, 'x-api-key': 'gk_no' })).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error' } },
    ])
  })
})
