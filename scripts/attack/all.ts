/**
 * `bun scripts/attack/all.ts [name ...]`: runs the attacks beside it one after another and prints
 * the table of docs/security.md. Exits 1 when a bound is not kept.
 */
import { join } from 'node:path'

import type { AttackRow } from './attack.ts'

const selected = Bun.argv.slice(2)

const isAttack = (value: unknown): value is { run: () => Promise<AttackRow> } =>
  typeof value === 'object' && value !== null && 'run' in value

const rows: AttackRow[] = []
for (const file of [...new Bun.Glob('*.ts').scanSync(import.meta.dir)].sort()) {
  const name = file.replace(/\.ts$/, '')
  const isHelper = ['all', 'attack', 'clients', 'flood', 'fuzz'].includes(name)
  if (isHelper || (selected.length > 0 && !selected.includes(name))) continue
  const loaded: unknown = await import(join(import.meta.dir, file))
  if (isAttack(loaded)) rows.push(await loaded.run())
}
console.log('| attack | measured | bound | kept |\n|---|---|---|---|')
for (const { name, measured, bound, isKept } of rows) {
  console.log(`| ${name} | ${measured} | ${bound} | ${isKept ? 'yes' : 'NO'} |`)
}
process.exit(rows.every(({ isKept }) => isKept) ? 0 : 1)
