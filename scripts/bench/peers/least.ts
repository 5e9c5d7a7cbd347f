/**
 * The minimal charging handler: finds the key, holds the maximum cost, passes the request through,
 * and settles the usage as two entries and a history row. Waiting requests share a durable commit.
 * It has no other checks and no log, cannot undo a single call, and its tables are minimal.
 * `bun least.ts UPSTREAM_PORT KEY`. Prints its port.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [upstream = '', key = ''] = Bun.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'berth-least-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
process.on('SIGTERM', () => process.exit())

const db = new Database(join(folder, 'least.sqlite'), { create: true })
db.run(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table accounts (
    id text primary key, balance integer, held integer, entries integer,
    check (held <= balance or id = 'house')
  ) without rowid;
  create table caps (key text primary key, used integer) without rowid;
  create table holds (id integer primary key, account text, amount integer);
  create table entries (
    account text, number integer, hold integer, amount integer, balance integer, at integer,
    primary key (account, number)
  ) without rowid;
  create table history (
    account text, number integer, model text, prompt integer, completion integer,
    primary key (account, number)
  ) without rowid;
  insert into accounts values ('caller', 1000000000000, 0, 0), ('house', 0, 0, 0);
  insert into caps values ('caller', 0);
`)
const holdQuery = db.query('insert into holds values (?, ?, ?)')
const keepQuery = db.query('update accounts set held = held + ? where id = ?')
const countQuery = db.query('update caps set used = used + ? where key = ?')
const endQuery = db.query('delete from holds where id = ?')
const moveQuery = db.query<{ entries: number; balance: number }, [number, number, string]>(`
  update accounts set balance = balance + ?, held = held - ?, entries = entries + 1
  where id = ? returning entries, balance`)
const appendQuery = db.query('insert into entries values (?, ?, ?, ?, ?, ?)')
const noteQuery = db.query('insert into history values (?, ?, ?, ?, ?)')
const beginQuery = db.query('begin immediate')
const commitQuery = db.query('commit')

interface Unit {
  run(): void
  done(): void
}
let units: Unit[] = []

function commitAll(): void {
  const group = units
  units = []
  beginQuery.run()
  for (const unit of group) unit.run()
  commitQuery.run()
  for (const unit of group) unit.done()
}

function tx(run: () => void): Promise<void> {
  const { promise, resolve: done } = Promise.withResolvers<void>()
  if (units.push({ run, done }) === 1) setImmediate(commitAll)
  return promise
}

/** Writes an entry of an account and returns its number. */
function post(account: string, hold: number, amount: number, held: number): number {
  const after = moveQuery.get(amount, held, account)
  if (!after) throw new Error(`Account ${account} does not exist.`)
  appendQuery.run(account, after.entries, hold, amount, after.balance, Date.now())
  return after.entries
}

const hashOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
const accounts = new Map([[hashOf(`Bearer ${key}`), 'caller']])
const prices = new Map([['bench/model', { prompt: 37, completion: 150 }]])
let holds = 0

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  idleTimeout: 0,
  fetch: async (request) => {
    const account = accounts.get(hashOf(request.headers.get('authorization') ?? ''))
    const body = await request.text()
    const { model, max_tokens } = JSON.parse(body)
    const price = prices.get(model)
    if (!account || !price) return new Response(null, { status: 400 })
    const hold = (holds += 1)
    const maxCost = body.length * price.prompt + max_tokens * price.completion
    await tx(() => {
      holdQuery.run(hold, account, maxCost)
      keepQuery.run(maxCost, account)
      countQuery.run(maxCost, account)
    })
    const response = await fetch(`http://127.0.0.1:${upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
      body,
      signal: request.signal,
    })
    const text = await response.text()
    const { prompt_tokens, completion_tokens } = JSON.parse(text).usage
    const used = prompt_tokens * price.prompt + completion_tokens * price.completion
    const charge = Math.min(used, maxCost)
    await tx(() => {
      endQuery.run(hold)
      const number = post(account, hold, -charge, maxCost)
      post('house', hold, charge, 0)
      countQuery.run(charge - maxCost, account)
      noteQuery.run(account, number, model, prompt_tokens, completion_tokens)
    })
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  },
})
console.log(server.port)
