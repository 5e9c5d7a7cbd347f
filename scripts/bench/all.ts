/**
 * `bun run bench [--runs=N] [name ...]`: runs every file beside it that exports
 * `bench(): Promise<BenchRow[]>`, or the named ones. Prints the table of each and replaces it in
 * docs/bench.md; the notes below a table stay. Each row is a ratio or a bound measured in one run.
 * Exits 1 when a row misses its limit.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'

import type { BenchRow } from './row.ts'

const flag = '--runs='
const args = Bun.argv.slice(2)
const runs = Number(args.find((arg) => arg.startsWith(flag))?.slice(flag.length) ?? 1)
const selected = args.filter((arg) => !arg.startsWith(flag))
const path = join(import.meta.dir, '../../docs/bench.md')
const plain = (value: number): string => Number(value.toPrecision(3)).toString()

const isBench = (value: unknown): value is { bench: () => Promise<BenchRow[]> } =>
  typeof value === 'object' && value !== null && 'bench' in value

/** Returns when and where a table was measured, with the load of the minute before. */
function circumstances(): string {
  const [processor] = cpus()
  const machine = `${cpus().length} cores (${processor?.model.trim() ?? 'unknown'})`
  const system = `${process.platform} ${process.arch}, Bun ${Bun.version}`
  const load = loadavg()[0]?.toFixed(1)
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, ${system}, load average ${load} before.`
}

/** Returns a table of the rows of all runs, which have the same order. */
function table(measured: BenchRow[][]): string {
  const [rows = []] = measured
  const lines = rows.map(({ name, limit, unit }, at) => {
    const values = measured.map((run) => plain(run[at]?.value ?? Number.NaN)).join(', ')
    const isOk = measured.every((run) => run[at]?.ok)
    return `| ${name} | ${values} ${unit} | ${plain(limit)} ${unit} | ${isOk ? 'yes' : 'NO'} |`
  })
  return ['| Measurement | Result | Limit | Within limit |', '|---|---|---|---|', ...lines].join(
    '\n',
  )
}

/** Replaces the section of one bench up to the end of its first table, or adds it. */
function writeSection(name: string, text: string): void {
  const [head = '', ...sections] = readFileSync(path, 'utf8').split(/^(?=## )/m)
  const known = sections.find((section) => section.startsWith(`## ${name}\n`))
  // Notes may have tables of their own.
  const notes = known?.match(/\n\|[^]*?\n(?!\|)([^]*)$/)?.[1] || '\n'
  const others = sections.filter((section) => section !== known)
  const all = [...others, `## ${name}\n\n${text}\n${notes}`].toSorted()
  writeFileSync(path, `${`${head}${all.join('')}`.trimEnd()}\n`)
}

let isWithin = true
for (const file of [...new Bun.Glob('*.ts').scanSync(import.meta.dir)].toSorted()) {
  const name = file.replace(/\.ts$/, '')
  const isSkipped = selected.length > 0 && !selected.includes(name)
  if (isSkipped || name === 'all' || name === 'row') continue
  const loaded: unknown = await import(join(import.meta.dir, file))
  if (!isBench(loaded)) continue
  console.error(name)
  const where = circumstances()
  const measured: BenchRow[][] = []
  for (let run = 0; run < runs; run += 1) measured.push(await loaded.bench())
  isWithin &&= measured.flat().every(({ ok }) => ok)
  const text = `${where}\n\n${table(measured)}`
  console.log(`## ${name}\n\n${text}\n`)
  writeSection(name, text)
}
process.exit(isWithin ? 0 : 1)
