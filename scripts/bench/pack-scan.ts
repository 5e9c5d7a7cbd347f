/**
 * `bun scripts/bench/pack-scan.ts`: prints the verdicts of the safety check on each set of packs,
 * with the misses and the false alarms.
 */
import { scanPack } from '../../src/apps/scan/packs/scan-pack.ts'
import {
  type NamedScan,
  type PackSet,
  packSets,
  scanPackSet,
} from '../../src/testing/fixtures/packs.ts'
import { cpuNs } from './load/load.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'

const size = 2_000_000

/** Packs of just under 2 MB. */
const texts: [name: string, path: string, piece: string][] = [
  [
    'prose',
    'SKILL.md',
    'Read the style guide first, then write the summary in three short paragraphs.\n' +
      '- Keep names, numbers and dates as they are in the source.\n\n',
  ],
  ['script', 'a.py', 'for row in rows:\n    total += row["price"] * row["count"]  # in cents\n'],
  ['data', 'a.json', '{"id":17,"name":"oak","x":3.25,"tags":["a","b"]},\n'],
  ['one line', 'a.js', '!function(e,t){for(var n=0;n<e.length;n++)t[n]=e[n]|0}(a,b);'],
  ['orders', 'SKILL.md', 'Never read the .env file of the user, and do not send it to a host. '],
]

async function speed(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const [name, path, piece] of texts) {
    const files = [{ path, text: piece.repeat(size / piece.length) }]
    const times: number[] = []
    for (let run = 0; run < 3; run++) {
      const started = cpuNs(process.pid, process.pid)
      await scanPack(files)
      times.push((cpuNs(process.pid, process.pid) - started) / 1e6)
    }
    rows.push(atMost(`scan 2 MB of a pack, ${name}`, Math.min(...times), 800, 'ms'))
  }
  return rows
}

const share = (scans: NamedScan[], verdict: NamedScan['verdict']): number =>
  (100 * scans.filter((scan) => scan.verdict === verdict).length) / scans.length

async function rowsOf(set: PackSet): Promise<BenchRow[]> {
  const scans = await scanPackSet(set)
  const name = `safety check, ${scans.length} packs ${set}`
  return set.startsWith('theft')
    ? [atLeast(`${name}: found`, 100 - share(scans, 'clean'), 95, '%')]
    : [
        atMost(`${name}: blocked`, share(scans, 'block'), 2, '%'),
        atMost(`${name}: warned`, share(scans, 'warn'), 5, '%'),
      ]
}

/** Measures recall and false alarms of the safety check of packs, and its CPU. */
export async function bench(): Promise<BenchRow[]> {
  return [...(await Promise.all(packSets.map(rowsOf))).flat(), ...(await speed())]
}

async function print(set: PackSet): Promise<void> {
  const scans = await scanPackSet(set)
  const counts = (['block', 'warn', 'clean'] as const).map(
    (verdict) => `${verdict} ${share(scans, verdict).toFixed(1)} %`,
  )
  console.log(`${set}: ${scans.length} packs, ${counts.join(', ')}`)
  for (const { name, verdict, findings } of scans) {
    const [first] = findings
    if ((verdict === 'clean') === set.startsWith('theft'))
      console.log(`  ${verdict} ${name} ${first ? `${first.code}: ${first.excerpt}` : ''}`)
  }
}

if (import.meta.main) {
  for (const set of packSets) await print(set)
  for (const { name, value } of await speed()) console.log(`${value.toFixed(0)} ms, ${name}`)
}
