/**
 * `bun run bench [name ...]`: runs every file beside it that exports
 * `bench(): Promise<BenchRow[]>`, or the named ones. Prints one table and, after a full run,
 * writes docs/bench.md. Each row is a ratio or a bound measured in one run. Exits 1 when a row
 * misses its limit.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

import type { BenchRow } from './row.ts'

const selected = Bun.argv.slice(2)
const notes = join(import.meta.dir, '../../docs/bench.md')
const plain = (value: number): string => Number(value.toPrecision(3)).toString()

const isBench = (value: unknown): value is { bench: () => Promise<BenchRow[]> } =>
  typeof value === 'object' && value !== null && 'bench' in value

async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const name of [...new Bun.Glob('*.ts').scanSync(import.meta.dir)].sort()) {
    const skip = selected.length > 0 && !selected.includes(name.replace(/\.ts$/, ''))
    if (skip || name === 'all.ts' || name === 'row.ts') continue
    const loaded: unknown = await import(join(import.meta.dir, name))
    if (!isBench(loaded)) continue
    console.error(name)
    rows.push(...(await loaded.bench()))
  }
  return rows
}

const rows = await run()
const [processor] = cpus()
const text = [
  '# Speed',
  '',
  'Written by `bun run bench`. Ratios (x) compare two servers or operations in one run, with alternating measurements.',
  '',
  `${cpus().length} cores (${processor?.model.trim() ?? 'unknown'}), ${process.platform} ` +
    `${process.arch}, Bun ${Bun.version}.`,
  '',
  '| Measurement | Result | Limit | Within limit |',
  '|---|---|---|---|',
  ...rows.map(
    ({ name, value, limit, unit, ok }) =>
      `| ${name} | ${plain(value)} ${unit} | ${plain(limit)} ${unit} | ${ok ? 'yes' : 'NO'} |`,
  ),
  '',
].join('\n')
console.log(text)
if (selected.length === 0) {
  mkdirSync(join(notes, '..'), { recursive: true })
  writeFileSync(notes, text)
}
process.exit(rows.every(({ ok }) => ok) ? 0 : 1)
