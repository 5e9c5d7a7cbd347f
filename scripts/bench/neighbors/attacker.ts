/**
 * Attacks of nine accounts of one address, for neighbors.ts. As a program, `attacker.ts NAME PORT`
 * runs one until stdin ends and prints the responses by status.
 */
import { makePdf, makePdfBomb } from '../../../src/testing/fixtures/pdf.ts'
import { build } from '../../attack/builds.ts'
import { type Call, newAccount, newAgent } from '../../attack/clients.ts'
import { upload } from '../../attack/pdfs.ts'
import { pageOf } from '../../attack/scans.ts'

const accounts = 9
const bombBytes = 1_500_000_000
/** Milliseconds after a rejected request. */
const pauseMs = 250

interface Attack {
  newClient: typeof newAgent
  /** Requests of one account that run at once. */
  perAccount: number
  attack(call: Call): Promise<unknown>
  victim(call: Call, at: number): Promise<unknown>
  /** Requests of the victim in a round. */
  samples: number
  settings?: Record<string, string>
}

const dryRun = (bytes: number, title: string) => ({ html: pageOf(bytes, title), dryRun: true })
const bomb = makePdfBomb(bombBytes)

export const attacks: Record<string, Attack> = {
  scans: {
    newClient: newAgent,
    perAccount: 8,
    attack: (call) => call('POST', '/api/apps', dryRun(3_000_000, 'Page')),
    victim: (call) => call('POST', '/api/apps', dryRun(600_000, 'Victim')),
    samples: 12,
  },
  pdfs: {
    newClient: newAccount,
    perAccount: 4,
    attack: (call) => upload(call, bomb),
    victim: (call, at) => upload(call, makePdf([`Hello tide ${at}`])),
    samples: 30,
  },
  builds: {
    newClient: newAgent,
    perAccount: 1,
    attack: build,
    victim: build,
    samples: 3,
    settings: { BUILDER_BROWSER: 'auto', DEMO_MODELS: 'on', BUILDS_PER_HOUR: '0' },
  },
}

async function attackFrom(name: string, port: number): Promise<void> {
  const attack = attacks[name]
  if (!attack) throw new Error(`${name} is no attack`)
  const counts: Record<string, number> = {}
  let isOver = false
  const run = async (call: Call): Promise<void> => {
    while (!isOver) {
      const result = await attack.attack(call)
      const status = String(Object(result).status ?? result)
      counts[status] = (counts[status] ?? 0) + 1
      if (status === '429' || status === '503') await Bun.sleep(pauseMs)
    }
  }
  const clients: Call[] = []
  for (let at = 0; at < accounts; at += 1) {
    clients.push(await attack.newClient({ port }, '203.0.113.1'))
  }
  console.log('ready')
  for (const call of clients) {
    for (let at = 0; at < attack.perAccount; at += 1) void run(call)
  }
  await Bun.stdin.text()
  isOver = true
  console.log(JSON.stringify(counts))
  process.exit(0)
}

const [name = '', port] = Bun.argv.slice(2)
if (import.meta.main) await attackFrom(name, Number(port))
