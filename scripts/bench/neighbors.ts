/**
 * `bun scripts/bench/neighbors.ts [scans|pdfs|builds ...] [rounds]`: nine accounts of one address
 * keep a queue full, and a client of another address uses it too. Prints its median alone and
 * beside them, in alternating rounds, their ratio, and the peak memory of the server. The limits of
 * requests are off, so that only the queues protect the client.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'

import { unlimited } from '../../src/testing/fixtures/unlimited.ts'
import { withServer } from '../attack/attack.ts'
import { attacks } from './neighbors/attacker.ts'

/** Milliseconds in which an attack fills the queue, and in which it ends. */
const pauseMs = 3_000

async function startAttack(name: string, port: number) {
  const program = join(import.meta.dir, 'neighbors/attacker.ts')
  const child = Bun.spawn([process.execPath, program, name, String(port)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = child.stdout.getReader()
  await output.read()
  return async (): Promise<string> => {
    await child.stdin.end()
    const { value } = await output.read()
    await child.exited
    return new TextDecoder().decode(value).trim()
  }
}

const median = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

const peakMb = (pid: number): number =>
  Math.round(
    Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024,
  )

/** Returns the row of the table. */
async function measure(name: string, rounds: number): Promise<string> {
  const attack = attacks[name]
  if (!attack) throw new Error(`${name} is no attack`)
  return withServer(
    async (server) => {
      const victim = await attack.newClient(server, '198.51.100.7')
      let at = 0
      const sample = async (): Promise<number[]> => {
        const times: number[] = []
        for (let turn = 0; turn < attack.samples; turn += 1) {
          const startedAt = performance.now()
          await attack.victim(victim, (at += 1))
          times.push(performance.now() - startedAt)
        }
        return times
      }
      await sample()
      const [alone, beside]: [number[], number[]] = [[], []]
      let counts = ''
      const peakBefore = peakMb(server.pid)
      for (let round = 0; round < rounds; round += 1) {
        alone.push(...(await sample()))
        const stop = await startAttack(name, server.port)
        await Bun.sleep(pauseMs)
        beside.push(...(await sample()))
        counts = await stop()
        await Bun.sleep(pauseMs)
      }
      const ratio = median(beside) / median(alone)
      const cells = [
        name,
        `${median(alone).toFixed(1)} ms`,
        `${median(beside).toFixed(1)} ms`,
        `${ratio.toFixed(1)}x`,
        `${peakBefore} MB, ${peakMb(server.pid)} MB`,
        counts,
        loadavg()[0]?.toFixed(1),
      ]
      return `| ${cells.join(' | ')} |`
    },
    { ...unlimited, ...attack.settings },
  )
}

const given = Bun.argv.slice(2)
const rounds = Number(given.find((one) => /^\d+$/.test(one)) ?? 3)
const names = given.filter((one) => one in attacks)
console.log(
  '| queue | alone | beside nine accounts | ratio | peak before, after | attacker | load |',
)
console.log('|---|---|---|---|---|---|---|')
for (const one of names.length > 0 ? names : Object.keys(attacks)) {
  console.log(await measure(one, rounds))
}
