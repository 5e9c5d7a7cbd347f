import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../config/load.ts'
import type { SettingName } from '../config/settings.ts'
import { type AppContext, closeContext, type ContextOverrides, createContext } from '../context.ts'
import { openLog } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { type Door, openDoor } from '../http/middleware.ts'
import { openApp } from '../http/router.ts'
import { freshEngine } from './engine.ts'
import { keptBy } from './kept.ts'
import { unlimited } from './unlimited.ts'

/** A clock that stands still until it is turned. */
export interface TurnedClock extends Clock {
  turn(ms: number): void
}

/** What a request brings beside its method and path. A body that is no text or bytes is JSON. */
export interface Sent {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** The address of the caller's socket. */
  from?: string
}

/** An answer, read whole. `body` is the JSON of it, or its text. */
export interface Answer {
  status: number
  headers: Headers
  body: unknown
  bytes: Uint8Array
  /** The code of a refusal. */
  code: string | undefined
  /** The text at a path of the body, "app.id"; throws where there is none. */
  text(path: string): string
}

export type Call = (method: string, path: string, sent?: Sent) => Promise<Answer>

/** An agent made through POST /keys, calling from an address of its own. */
export interface Person {
  handle: string
  key: string
  from: string
  /** A call with the person's key: `ann.call('POST', '/apps', { html })`. */
  call(method: string, path: string, body?: unknown, headers?: Sent['headers']): Promise<Answer>
  /** Publishes a page, any small one unless told, and answers the id of the app. */
  publish(more?: Record<string, unknown>): Promise<string>
}

/** A house of its own for one test, in memory and a temporary folder, reached by its front door. */
export interface TestHouse {
  ctx: AppContext
  clock: TurnedClock
  /** Every line that was logged, parsed. */
  lines: Record<string, unknown>[]
  /** A request to the Agent API, by its path there ("/apps"). */
  call: Call
  /** A request to any address of the site. */
  visit: Call
  /** The front door itself, for a server of the test's own. */
  door: Door
  /** The agent of this name: made when first asked for. */
  person(name: string): Promise<Person>
  /** All rows and files that are kept, to be compared before and after. */
  kept(): Promise<unknown>
  close(): Promise<void>
}

const origin = 'http://localhost:3000'
/** What a house would otherwise look for on its machine. */
const offline = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }
const start = Date.UTC(2026, 4, 4, 12)

const page = '<!doctype html><title>Hello</title><h1>Hello</h1>'

/** Opens a house without limits of rate but for those given; the caller closes it. */
export async function openTestHouse(
  settings: Partial<Record<SettingName, string>> = {},
  parts: ContextOverrides = {},
): Promise<TestHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-house-'))
  const config = loadConfig({ ...offline, ...unlimited, ...settings, DATA_DIR: folder }, {})
  let now = start
  const clock: TurnedClock = { now: () => now, turn: (ms) => void (now += ms) }
  const lines: Record<string, unknown>[] = []
  const log = openLog(clock, (line) => void lines.push(JSON.parse(line)))
  const db = parts.db ?? (await freshEngine())
  const ctx = await createContext(config, origin, { clock, log, ...parts, db })
  const door = openDoor(ctx, openApp(ctx))
  const visit = caller(door)
  const call: Call = (method, path, sent) => visit(method, `/api${path}`, sent)
  const people = new Map<string, Promise<Person>>()
  return {
    ctx,
    clock,
    lines,
    call,
    visit,
    door,
    person: (name) => {
      const known = people.get(name) ?? newPerson(call, name, `192.0.2.${people.size + 1}`)
      people.set(name, known)
      return known
    },
    kept: () => keptBy(ctx),
    close: async () => {
      await closeContext(ctx)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function caller(door: Door): Call {
  return async (method, path, { key, body, headers, from = '203.0.113.9' } = {}) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const request = new Request(origin + path, {
      method,
      headers: {
        ...(isRaw ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? new Blob([body]) : JSON.stringify(body) }),
    })
    return read(await door(request, from))
  }
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response
  const bytes = await response.bytes()
  const text = new TextDecoder().decode(bytes)
  const isJson = /^application\/json\b/.test(headers.get('content-type') ?? '')
  const body: unknown = isJson ? JSON.parse(text) : text
  const code = valueAt(body, 'code') ?? valueAt(body, 'error.code')
  return {
    status,
    headers,
    body,
    bytes,
    code: typeof code === 'string' ? code : undefined,
    text: (path) => {
      const value = valueAt(body, path)
      if (typeof value === 'string') return value
      throw new Error(`no text at "${path}" of ${status} ${text.slice(0, 500)}`)
    },
  }
}

const valueAt = (body: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
      body,
    )

async function newPerson(call: Call, name: string, from: string): Promise<Person> {
  const handle = name.length < 3 ? `${name}-person` : name
  const made = await call('POST', '/keys', { body: { handle }, from })
  const key = made.text('key')
  const own: Person['call'] = (method, path, body, headers) =>
    call(method, path, { key, body, from, ...(headers && { headers }) })
  return {
    handle,
    key,
    from,
    call: own,
    publish: async (more) => (await own('POST', '/apps', { html: page, ...more })).text('app.id'),
  }
}
