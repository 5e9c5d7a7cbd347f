/**
 * Adds many apps and ledger entries to the SQLite database of a stopped server:
 * `bun scripts/bench/seed-many.ts DATA_DIR`. Existing rows stay. An existing agent gets a share of
 * the new rows, and new agents get the rest.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** Every `appShare`th app and every `moveShare`th transfer belongs to the heavy agent. */
interface Size {
  agents: number
  apps: number
  appShare: number
  /** Each transfer has two ledger entries. */
  transfers: number
  moveShare: number
}

export const many: Size = {
  agents: 2_000,
  apps: 100_000,
  appShare: 10,
  transfers: 500_000,
  moveShare: 100,
}

/** Just enough for a full page in every list. */
export const few: Size = { agents: 1, apps: 400, appShare: 1, transfers: 200, moveShare: 1 }

const credit = 1_000_000
const year = 365 * 86_400_000

/** Rows 1 to n of a bulk insert. */
export const upTo = (n: number): string =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${n})`

/** A unique text of 12 letters and digits for row `i`. */
const idOf = (kind: string, i: string): string => `printf('${kind}%011d', ${i})`

/** The maker of row `i`: the heavy agent for every `share`th row, otherwise a new agent. */
const makerOf = (i: string, share: number, { agents }: Size): string =>
  `case when ${i} % ${share} = 0 then $heavy else ${idOf('G', `${i} % ${agents}`)} end`

function seedAgents(database: Database, { agents }: Size, now: number): void {
  database.run(`${upTo(agents)} insert into agents
    (id, handle, shape, claim_hash, made_from, kept, created)
    select ${idOf('G', 'i - 1')}, 'seed-' || i, 'seed-' || i, 'claim' || i, 'seeded', 0,
      ${now} - ${year} + i from n`)
  database.run(`${upTo(agents)} insert into keys (prefix, hash, kind, owner, created)
    select 'ak_seed' || i, 'hash' || i, 'agent', ${idOf('G', 'i - 1')}, ${now} - ${year} from n`)
}

/**
 * Adds apps of the past year with one version each, all with the same page. One in ten is listed.
 */
function seedApps(database: Database, size: Size, heavy: string, now: number): void {
  const made = `${now} - ${year} + i * ${Math.floor((year - 7_200_000) / size.apps)}`
  database
    .query(
      `${upTo(size.apps)} insert into apps
    (id, maker, kind, title, description, shelf, version, words, listed, listed_version, listed_at,
      remix, bytes, created, updated, rules)
    select ${idOf('P', 'i')}, ${makerOf('i', size.appShare, size)}, 'app', 'App ' || i, '', 'other', 1,
      'app ' || i, iif(i % 10 = 1 or i % 200 = 0, 'on', 'off'), 1, ${made}, 'free', 2000, ${made}, ${made},
      (select max(rules) from apps) from n`,
    )
    .run({ $heavy: heavy })
  database.run(`insert into versions
    (app, version, maker, sha256, pack, html_bytes, gzip_bytes, br_bytes, asks, via, note, created)
    select a.id, 1, a.maker, v.sha256, v.pack, v.html_bytes, v.gzip_bytes, v.br_bytes, v.asks,
      'html', '', a.created from apps a, (select * from versions order by created limit 1) v
    where a.id not in (select app from versions)`)
}

/** Adds transfers of two entries each: gifts of 2 credits and builds of 1. All are paid. */
function seedLedger(database: Database, size: Size, heavy: string, now: number): void {
  const step = Math.floor(year / size.transfers)
  database
    .query(
      `create temp table moves as ${upTo(size.transfers)} select i, 'seed:' || i as ref,
      'agent:' || ${makerOf('((i - 1) / 2)', size.moveShare, size)} as agent, i % 2 as gift,
      ${now} - ${year} + i * ${step} as at from n`,
    )
    .run({ $heavy: heavy })
  database.run(`insert into holds (ref, id, account, kind, amount, charged, state, funds, parts,
      price, on_expiry, deadline, process, at)
    select ref, ${idOf('H', 'i')}, iif(gift, 'house:issue', agent), iif(gift, 'gift', 'build'),
      iif(gift, 2, 1) * ${credit}, iif(gift, 2, 1) * ${credit}, 'settled', 'any',
      iif(gift, '[{"account":"' || agent || '","amount":"${2 * credit}"}]', '[]'), 'null',
      'release', at, 'seed', at from moves`)
  database.run(`insert or ignore into accounts (id, kind, at)
    select agent, 'agent', min(at) from moves group by agent
    union all select 'house:income', 'house', ${now}`)
  database.run(`create temp table lines as
    select iif(gift, 'house:issue', agent) as account, ref, 0 as line, i,
      iif(gift, -2, -1) * ${credit} as amount, gift, at from moves
    union all select iif(gift, agent, 'house:income'), ref, 1, i, iif(gift, 2, 1) * ${credit},
      gift, at from moves`)
  database.run(`insert into entries
    select l.account, a.entries + row_number() over mine, l.ref, l.line,
      iif(l.gift, 'gift', 'build'), null, l.amount, a.balance + sum(l.amount) over mine,
      a.free + sum(l.amount) over mine, 0, l.at, null
    from lines l join accounts a on a.id = l.account
    window mine as (partition by l.account order by l.i, l.line)`)
  database.run(`update accounts set (entries, balance, free) = (
      select number, balance, free from entries e where e.account = accounts.id
      order by number desc limit 1)
    where exists (select 1 from entries e where e.account = accounts.id)`)
  database.run(`update accounts set last_free = coalesce((select -e.amount from entries e
      where e.account = accounts.id and e.amount < 0 order by number desc limit 1), 0)`)
}

/** Seeds the database file of a server with at least one agent and published page. */
export function seedMany(file: string, heavy: string, size: Size): void {
  const database = new Database(file)
  const now = Date.now()
  database.run('pragma synchronous = off')
  database.transaction(() => {
    seedAgents(database, size, now)
    seedApps(database, size, heavy, now)
    seedLedger(database, size, heavy, now)
  })()
  database.run('pragma wal_checkpoint(truncate)')
  database.close()
}

if (import.meta.main) {
  const file = join(Bun.argv[2] ?? './data', 'berth.sqlite')
  const database = new Database(file)
  const found = database.query<{ maker: string }, []>('select maker from apps limit 1').get()
  database.close()
  if (!found) throw new Error(`${file} has no app. Publish one first.`)
  seedMany(file, found.maker, many)
}
