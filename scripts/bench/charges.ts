import { join } from 'node:path'

import type { Charges } from './charges/measure.ts'
import { atMost, type BenchRow } from './row.ts'

const folder = import.meta.dir

/** Measures what the exact charge of a chat costs, on both engines, beside a bare pass-through. */
export async function bench(): Promise<BenchRow[]> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(folder, '../../src/testing/postgres.ts'),
      process.execPath,
      join(folder, 'charges/measure.ts'),
    ],
    { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' },
  )
  const lines = (await child.stdout.text()).trim().split('\n')
  const { many, one, pinned, postgres }: Charges = JSON.parse(lines.at(-1) ?? '')
  const name = 'charged chat, CPU vs. a bare pass-through'
  return [
    atMost(`${name}, 32 callers (${many.us} us)`, many.ratio, 2.5),
    atMost(`${name}, 32 callers, on one core (${pinned.us} us)`, pinned.ratio, 4),
    atMost(`${name}, 1 caller (${one.us} us)`, one.ratio, 5),
    atMost(`charged chat on PostgreSQL, CPU vs. SQLite (${postgres.us} us)`, postgres.ratio, 1.6),
  ]
}
