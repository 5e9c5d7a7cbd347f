import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'

import { toResponse } from '../../../kernel/http/response.ts'
import { noteDaysMax, notesPerAgentMax, noteStreamsMax } from '../../../kernel/limits.ts'
import { NoteSignals } from '../../../kernel/state/process-state.ts'
import { sentence } from '../../../kernel/words/message.ts'
import { findByHandle } from '../../../people/agents/agents.ts'
import { noteKinds } from '../../../people/notifications/kinds.ts'
import { deleteOldNotes, listNotes, notify } from '../../../people/notifications/notifications.ts'
import { runCommand } from '../../../server/operator/control.ts'
import { expectError } from '../../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../../testing/fixtures/test-server.ts'
import { nextTurn } from '../../../testing/until.ts'
import { flushOpens, recordOpen } from '../../opens.ts'
import { streamNotes } from './operations.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
})
afterEach(() => closeWithoutErrors(t))

interface ShownNote {
  id: string
  kind: string
  read: boolean
}

async function notesOf(
  person: TestAgent,
  query = '',
): Promise<{ notes: ShownNote[]; unread: number }> {
  const { status, body } = await person.call('GET', `/me/notes${query}`)
  expect(status).toBe(200)
  return JSON.parse(JSON.stringify(body))
}

const kindsOf = async (person: TestAgent, query = '') =>
  (await notesOf(person, query)).notes.map(({ kind }) => kind)

const idOf = async (person: TestAgent): Promise<string> =>
  (await findByHandle(t.ctx, person.handle))?.id ?? ''

/** Adds a note for an agent. */
async function addNote(text: string, to = ann): Promise<void> {
  const agent = await idOf(to)
  await t.ctx.db.tx((db) => notify(t.ctx, db, { to: agent, kind: 'system', text: sentence(text) }))
}

describe('GET /me/notes', () => {
  test('lists events, newest first, with their actor and item', async () => {
    const boat = await ann.publish({ title: 'Boat', store: true })
    const game = await ann.publish({ store: true, remix: 'price', priceRemix: 50 })
    t.clock.advance(1_000)
    await ben.call('POST', `/apps/${boat}/remix`)
    const copy = (await ben.call('POST', `/apps/${game}/remix`)).text('app.id')
    await ben.call('PUT', `/explore/${boat}/review`, { stars: 4, text: 'Good <b>boat</b>' })
    await ben.call('POST', `/explore/${boat}/comments`, { text: 'Hello' })
    await ann.call('PATCH', `/apps/${game}`, { store: false })
    const { notes, unread } = await notesOf(ann)
    expect(notes.map(({ kind }) => kind)).toEqual([
      'app.delisted',
      'comment.new',
      'review.new',
      'remix.sold',
      'remix.made',
      'app.listed',
      'app.listed',
    ])
    expect(unread).toBe(7)
    expect<unknown>(notes[3]).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
      kind: 'remix.sold',
      read: false,
      at: '2026-05-04T12:00:01.000Z',
      item: game,
      actor: '@ben',
      text: expect.stringContaining('40 credits'),
      data: { copy, price: 50, credits: 40 },
    })
    expect(notes[2]).toMatchObject({ text: '@ben gave “Boat” 4 of 5 stars: “Good <b>boat</b>”' })
    expect(await kindsOf(ann, '?kind=review.new')).toEqual(['review.new'])
    expect((await ann.call('GET', '/me')).body).toMatchObject({ unread: 7 })
    expect((await notesOf(ben)).notes).toEqual([])
  })

  test('continues after a cursor and rejects other cursors', async () => {
    for (const text of ['1', '2', '3']) await addNote(text)
    const first = await ann.call('GET', '/me/notes?limit=2')
    expect(first.body).toMatchObject({ notes: [{ text: '3' }, { text: '2' }], unread: 3 })
    const rest = await ann.call('GET', `/me/notes?limit=2&cursor=${first.text('next')}`)
    expect(rest.body).toMatchObject({ notes: [{ text: '1' }], next: null })
    const forged = Buffer.from('note 1 or 1=1').toString('base64url')
    const bad = ['cursor=x', `cursor=${forged}`, 'kind=party', 'limit=0', 'unread=perhaps']
    for (const query of bad) {
      await expectError(t, 400, 'bad_request', () => ann.call('GET', `/me/notes?${query}`))
    }
    const { body } = await ann.call('GET', '/me/notes?unread=perhaps')
    expect(body).toMatchObject({ error: '"unread" must be one of true, false, 1, 0.' })
  })

  test('keeps the newest 1,000 notes for at most 90 days', async () => {
    const agent = await idOf(ann)
    const texts = Array.from({ length: notesPerAgentMax + 3 }, (_, at) => `${at + 1}`)
    // A transaction may take five seconds, which a busy machine needs for all of them.
    for (let at = 0; at < texts.length; at += 100) {
      await t.ctx.db.tx(async (db) => {
        for (const text of texts.slice(at, at + 100)) {
          await notify(t.ctx, db, { to: agent, kind: 'system', text: sentence(text) })
        }
      })
    }
    await addNote('to ben', ben)
    const all = await listNotes(t.ctx, agent, { unread: false, limit: 2_000 })
    expect([all.length, all.at(-1)?.text]).toEqual([notesPerAgentMax, '4'])
    t.clock.advance(noteDaysMax * 86_400_000)
    await addNote('new')
    t.clock.advance(1)
    await deleteOldNotes(t.ctx)
    expect((await notesOf(ann)).notes).toMatchObject([{ text: 'new' }])
    expect((await notesOf(ben)).notes).toEqual([])
  })
})

describe('POST /me/notes/read', () => {
  test('marks some or all own notes', async () => {
    for (const text of ['1', '2', '3']) await addNote(text)
    const ids = (await notesOf(ann)).notes.map(({ id }) => id)
    const read = (person: TestAgent, body: unknown) => person.call('POST', '/me/notes/read', body)
    expect((await read(ben, { ids })).body).toEqual({ read: 0, unread: 0 })
    expect((await read(ann, { ids: ids.slice(0, 1) })).body).toEqual({ read: 1, unread: 2 })
    expect((await read(ann, { ids: ids.slice(0, 1) })).body).toEqual({ read: 0, unread: 2 })
    expect((await notesOf(ann, '?unread')).notes).toHaveLength(2)
    expect((await notesOf(ann, '?unread=false')).notes).toMatchObject([
      { read: true },
      { read: false },
      { read: false },
    ])
    expect((await read(ann, { all: true })).body).toEqual({ read: 2, unread: 0 })
    expect((await ann.call('GET', '/me')).body).toMatchObject({ unread: 0 })
    const wrong = [{}, { all: false }, { ids: [] }, { ids: ['x'] }, { ids, all: true }]
    for (const body of [...wrong, { ids: Array(101).fill(ids[0]) }, { all: 'yes' }]) {
      await expectError(t, 400, 'bad_request', () => read(ann, body))
    }
  })
})

test('requests without a key are rejected', async () => {
  for (const path of ['/me/notes', '/me/events', '/me/earnings', '/me/ledger.csv']) {
    await expectError(t, 401, 'no_key', () => t.call('GET', path))
  }
  const read = { body: { odd: 1 } }
  await expectError(t, 401, 'no_key', () => t.call('POST', '/me/notes/read', read))
})

test('an event that happens once gives one note', async () => {
  const boat = await ann.publish({ title: 'Boat' })
  for (let host = 0; host < 120; host += 1) recordOpen(t.ctx, boat, `198.51.100.${host}`)
  await flushOpens(t.ctx)
  recordOpen(t.ctx, boat, '198.51.100.200')
  await flushOpens(t.ctx)
  expect(await kindsOf(ann)).toEqual(['app.opened_100'])

  const game = await ann.publish({ store: true, remix: 'price', priceRemix: 180 })
  await ben.call('POST', `/apps/${game}/remix`)
  expect(await kindsOf(ben)).toEqual([])
  await ben.call('POST', `/apps/${game}/remix`)
  expect(await notesOf(ben)).toMatchObject({
    notes: [{ kind: 'credits.low', data: { credits: 40 } }],
  })
  const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
  await ann.call('DELETE', `/me/keys/${prefix}`)
  expect(await notesOf(ann, '?kind=key.revoked')).toMatchObject({ notes: [{ data: { prefix } }] })
  expect(new Set(noteKinds).size).toBe(noteKinds.length)
})

test('a rolled-back change gives no note', async () => {
  const agent = await idOf(ann)
  const undone = t.ctx.db.tx(async (db) => {
    await notify(t.ctx, db, { to: agent, kind: 'system', text: sentence('Never') })
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await kindsOf(ann)).toEqual([])
})

describe('GET /me/events', () => {
  /** Opens the stream of ann's notes and returns a reader of its events. */
  async function watch(headers: Record<string, string> = {}) {
    const requestHeaders = { authorization: `Bearer ${ann.key}`, ...headers }
    const request = new Request('http://localhost:3000/api/me/events', { headers: requestHeaders })
    const response = await t.handle(request, ann.from)
    const reader = response.body?.getReader()
    let text = ''
    const read = async (events: number): Promise<{ id: string; text: string }[]> => {
      const all = () => [...text.matchAll(/^id: (\w+)\ndata: (.*)$/gm)]
      while (all().length < events) {
        const part = await reader?.read()
        if (!part || part.done) break
        text += new TextDecoder().decode(part.value)
      }
      return all().map(([, id = '', json = '']) => ({ id, text: JSON.parse(json).text }))
    }
    return { response, read, leave: () => reader?.cancel() }
  }

  test('streams unread notes, then new ones, and resumes after the last', async () => {
    for (const text of ['1', '2', '3']) await addNote(text)
    const [three, , one] = (await notesOf(ann)).notes
    await ann.call('POST', '/me/notes/read', { ids: [one?.id] })
    const stream = await watch()
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect((await stream.read(2)).map(({ text }) => text)).toEqual(['2', '3'])
    await addNote('to ben', ben)
    await addNote('4')
    const events = await stream.read(3)
    expect(events[1]?.id).toBe(three?.id ?? '')
    expect(events[2]?.text).toBe('4')
    await stream.leave()

    const again = await watch({ 'last-event-id': one?.id ?? '' })
    expect((await again.read(3)).map(({ text }) => text)).toEqual(['2', '3', '4'])
    await again.leave()
    await ann.call('POST', '/me/notes/read', { all: true })
    const bens = (await notesOf(ben)).notes[0]?.id ?? ''
    for (const odd of ['nonsense', "1' or '1'='1", 'A'.repeat(5_000), bens]) {
      const fresh = await watch({ 'last-event-id': odd })
      await addNote('news')
      expect((await fresh.read(1)).map(({ text }) => text)).toEqual(['news'])
      await fresh.leave()
      await ann.call('POST', '/me/notes/read', { all: true })
    }
  })

  test('limits the open streams of an agent and frees one that is closed', async () => {
    const streams = []
    for (let open = 0; open < noteStreamsMax; open += 1) streams.push(await watch())
    await expectError(t, 409, 'busy', () => ann.call('GET', '/me/events'))
    await streams[0]?.leave()
    const next = await watch()
    expect(next.response.status).toBe(200)
    for (const stream of [...streams.slice(1), next]) await stream.leave()
  })

  test('frees streams that broke', async () => {
    await addNote('news')
    const agent = await idOf(ann)
    const broken = async () => {
      const isAuthorized = () => Promise.reject(new Error('no database'))
      const events = await streamNotes(t.ctx, { agent, isAuthorized }, new Headers())
      const response = toResponse(t.ctx, new Request('http://localhost/me/events'), events)
      await expect(response.text()).rejects.toThrow('no database')
    }
    await Promise.all(Array.from({ length: noteStreamsMax }, broken))
    const stream = await watch()
    expect(stream.response.status).toBe(200)
    await stream.leave()
  })

  test('sleeps until a note is committed, and on PostgreSQL hears of other processes', async () => {
    const to = await idOf(ann)
    const reads = spyOn(t.ctx.db.read, 'select')
    const polls: (() => void)[] = []
    const { setInterval } = globalThis
    Object.assign(globalThis, { setInterval: (poll: () => void) => void polls.push(poll) })
    const stream = await watch()
    Object.assign(globalThis, { setInterval })
    const pollAll = () => polls.forEach((poll) => poll())
    await nextTurn()
    reads.mockClear()
    const undone = t.ctx.db.tx(async (db) => {
      await notify(t.ctx, db, { to, kind: 'system', text: sentence('Never') })
      throw new Error('undone')
    })
    await undone.catch(() => undefined)
    for (const _ of [1, 2]) {
      pollAll()
      await nextTurn()
    }
    const isShared = t.ctx.db.kind === 'postgres'
    // The shared poll reads at most once each time. A stream reads nothing.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(isShared ? 2 : 0)
    reads.mockRestore()
    // No poll runs here, so only the signal of the note can wake the stream.
    await addNote('news')
    expect((await stream.read(1)).at(-1)?.text).toBe('news')
    if (!isShared) return stream.leave()
    // Another process shares the database and not the memory.
    const other = { ...t.ctx, state: { ...t.ctx.state, noteSignals: new NoteSignals() } }
    await t.ctx.db.tx((db) =>
      notify(other, db, { to, kind: 'system', text: sentence('elsewhere') }),
    )
    pollAll()
    expect((await stream.read(2)).at(-1)?.text).toBe('elsewhere')
    await stream.leave()
  })

  test('ends for a key that was revoked', async () => {
    const stream = await watch()
    await ann.call('POST', '/me/keys')
    await ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`)
    expect(await stream.read(1)).toEqual([])
  })

  test('ends for an agent that was suspended', async () => {
    const stream = await watch()
    await runCommand(t.ctx, { command: 'admin', words: ['suspend', `@${ann.handle}`, 'spam'] })
    await addNote('news')
    expect(await stream.read(1)).toEqual([])
  })
})
