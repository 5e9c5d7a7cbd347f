/**
 * Generates the migrations of both engines from the tables in src.
 *   bun run migrations [NAME]      adds a migration where the tables have changed
 *   bun run migrations --fresh     begins again with one first migration
 *   bun run migrations --check     exits 1 when the folders are behind the tables
 */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const root = join(import.meta.dir, '..')
const engines = [
  { folder: 'sqlite', dialect: 'sqlite', url: '' },
  { folder: 'postgres', dialect: 'postgresql', url: 'postgres://generating' },
]

/** drizzle-kit reads its orders from argv and prints snapshots as JSON, which knows no bigint. */
async function runKit(): Promise<void> {
  const value = function (this: bigint) {
    return Number(this)
  }
  Object.defineProperty(BigInt.prototype, 'toJSON', { value })
  const untyped: string = '../node_modules/drizzle-kit/bin.cjs'
  await import(untyped)
}

/** The engine is chosen when a process starts, so each generation is a process of its own. */
async function generate(engine: (typeof engines)[number], out: string, name: string) {
  const orders = ['generate', `--dialect=${engine.dialect}`, '--schema=src/**/tables.ts']
  const child = Bun.spawn(
    [process.execPath, import.meta.path, ...orders, `--out=${out}`, `--name=${name}`],
    { cwd: root, env: { ...Bun.env, DATABASE_URL: engine.url }, stdout: 'pipe', stderr: 'inherit' },
  )
  const said = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`drizzle-kit failed.\n${said}`)
  return said
}

const migrationsIn = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.sql'))

async function isBehind(engine: (typeof engines)[number]): Promise<boolean> {
  const copy = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp(join(root, engine.folder), copy, { recursive: true }).catch(() => {})
    const before = await migrationsIn(copy)
    await generate(engine, relative(root, copy), 'check')
    return (await migrationsIn(copy)).length !== before.length
  } finally {
    await rm(copy, { recursive: true })
  }
}

async function check(): Promise<void> {
  for (const engine of engines) {
    if (!(await isBehind(engine))) continue
    console.error(`${engine.folder}/ is behind the tables: run "bun run migrations".`)
    process.exitCode = 1
  }
}

/** Rows that are found by their key alone: SQLite keeps them in its tree, and not in one more. */
const keyed = ['accounts', 'caps', 'entries', 'holds', 'use_counts', 'uses']

const withoutRowid = (sql: string): string =>
  keyed.reduce(
    (text, name) =>
      text.replace(RegExp(`(CREATE TABLE \`${name}\` .*?\\n\\));`, 's'), '$1 WITHOUT ROWID;'),
    sql,
  )

/** What the tables cannot say stands beside them (NAME.sqlite.sql) and joins the first one. */
async function addByHand(folder: string): Promise<void> {
  const [first = ''] = await migrationsIn(join(root, folder))
  const file = join(root, folder, first)
  const found = new Bun.Glob(`src/**/*.${folder}.sql`).scanSync(root)
  const texts = [...found].sort().map((path) => Bun.file(join(root, path)).text())
  const made = await Bun.file(file).text()
  const tables = folder === 'sqlite' ? withoutRowid(made) : made
  const all = [tables, ...(await Promise.all(texts))]
  await Bun.write(file, all.join('\n--> statement-breakpoint\n'))
}

async function write(order: string | undefined): Promise<void> {
  for (const engine of engines) {
    const folder = join(root, engine.folder)
    if (order === '--fresh') await rm(folder, { recursive: true, force: true })
    const first = (await migrationsIn(folder)).length === 0
    await generate(engine, engine.folder, first ? 'begin' : (order ?? 'change'))
    if (first) await addByHand(engine.folder)
    console.log(`${engine.folder}/: ${(await migrationsIn(folder)).join(', ')}`)
  }
}

const [order] = Bun.argv.slice(2)
if (order === 'generate') await runKit()
else if (order === '--check') await check()
else await write(order)
