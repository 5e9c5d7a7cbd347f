import { join } from 'node:path'

import type { Measured, Statements } from './replicas/measure.ts'
import { atMost, type BenchRow } from './row.ts'

const folder = import.meta.dir
/** Statements of a charged call on PostgreSQL, without BEGIN and COMMIT, and its round trips. */
const statementsMax = 4
/** CPU of a call with several servers, compared with one. */
const ratioMax = 1.5

/** Measures a charged call on PostgreSQL, with one server and with several. */
export async function bench(): Promise<BenchRow[]> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(folder, '../../src/testing/postgres.ts'),
      process.execPath,
      join(folder, 'replicas/measure.ts'),
    ],
    { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' },
  )
  const { measured, statements }: { measured: Measured[]; statements: Statements } = JSON.parse(
    (await child.stdout.text()).trim().split('\n').at(-1) ?? '',
  )
  const one = measured[0]
  if (!one) throw new Error('Nothing was measured.')
  const costOf = ({ serverUs, postgresUs }: Measured): number => serverUs + postgresUs
  const textOf = ({ serverUs, postgresUs }: Measured): string =>
    `${serverUs.toFixed(0)} us in servers and ${postgresUs.toFixed(0)} us in PostgreSQL`
  const own = statements.all - statements.transactions
  return [
    atMost(
      `charged call on PostgreSQL, beside ${statements.transactions.toFixed(0)} BEGIN and COMMIT`,
      own,
      statementsMax,
      'statements',
    ),
    atMost('charged call on PostgreSQL', statements.roundTrips, statementsMax, 'round trips'),
    ...measured
      .slice(1)
      .map((many) =>
        atMost(
          `charged call on PostgreSQL with ${many.servers} servers and ${many.accounts} accounts, CPU vs. one server (${textOf(many)} vs. ${textOf(one)})`,
          costOf(many) / costOf(one),
          ratioMax,
        ),
      ),
  ]
}
