/**
 * Generates the migrations of both engines from the tables in src.
 *   bun run migrations [NAME]      adds a migration for changed tables, and replaces the snapshot
 *   bun run migrations --fresh     replaces all migrations by one
 *   bun run migrations --check     exits 1 when a migration is missing
 */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const root = join(import.meta.dir, '..')
const engines = [
  { folder: 'sqlite', dialect: 'sqlite', url: '' },
  { folder: 'postgres', dialect: 'postgresql', url: 'postgres://generating' },
]

/** Runs drizzle-kit, which reads argv and prints snapshots as JSON. JSON cannot hold a bigint. */
async function runKit(): Promise<void> {
  const value = function (this: bigint) {
    return Number(this)
  }
  Object.defineProperty(BigInt.prototype, 'toJSON', { value })
  const untyped: string = '../node_modules/drizzle-kit/bin.cjs'
  await import(untyped)
}

/** Generates in a new process, because a process chooses its engine at the start. */
async function generate(engine: (typeof engines)[number], out: string, name: string) {
  const args = ['generate', `--dialect=${engine.dialect}`, '--schema=src/**/tables.ts']
  const child = Bun.spawn(
    [process.execPath, import.meta.path, ...args, `--out=${out}`, `--name=${name}`],
    { cwd: root, env: { ...Bun.env, DATABASE_URL: engine.url }, stdout: 'pipe', stderr: 'inherit' },
  )
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`drizzle-kit failed.\n${output}`)
  return output
}

const migrationsIn = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.sql'))

/** Deletes all snapshots of the schema but the newest, from which the next migration starts. */
async function deleteOldSnapshots(folder: string): Promise<void> {
  const meta = join(folder, 'meta')
  const snapshots = (await readdir(meta)).filter((file) => file.endsWith('_snapshot.json'))
  for (const file of snapshots.toSorted().slice(0, -1)) await rm(join(meta, file))
}

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
    console.error(`${engine.folder}/ lacks a migration. Run: bun run migrations`)
    process.exitCode = 1
  }
}

/** Tables whose rows are found by primary key only. SQLite stores them without a second tree. */
const withoutRowidTables = ['accounts', 'caps', 'entries', 'holds', 'use_counts', 'uses']

const withoutRowid = (sql: string): string =>
  withoutRowidTables.reduce(
    (text, name) =>
      text.replace(RegExp(`(CREATE TABLE \`${name}\` .*?\\n\\));`, 's'), '$1 WITHOUT ROWID;'),
    sql,
  )

/** Adds SQL that drizzle tables cannot express (NAME.sqlite.sql) to the first migration. */
async function addHandwrittenSql(folder: string): Promise<void> {
  const [first = ''] = await migrationsIn(join(root, folder))
  const file = join(root, folder, first)
  const found = new Bun.Glob(`src/**/*.${folder}.sql`).scanSync(root)
  const texts = [...found].sort().map((path) => Bun.file(join(root, path)).text())
  const generated = await Bun.file(file).text()
  const tables = folder === 'sqlite' ? withoutRowid(generated) : generated
  const all = [tables, ...(await Promise.all(texts))]
  await Bun.write(file, all.join('\n--> statement-breakpoint\n'))
}

async function write(option: string | undefined): Promise<void> {
  for (const engine of engines) {
    const folder = join(root, engine.folder)
    if (option === '--fresh') await rm(folder, { recursive: true, force: true })
    const first = (await migrationsIn(folder)).length === 0
    await generate(engine, engine.folder, first ? 'begin' : (option ?? 'change'))
    if (first) await addHandwrittenSql(engine.folder)
    await deleteOldSnapshots(folder)
    console.log(`${engine.folder}/: ${(await migrationsIn(folder)).join(', ')}`)
  }
}

const [option] = Bun.argv.slice(2)
if (option === 'generate') await runKit()
else if (option === '--check') await check()
else await write(option)
