import { makePdf, makePdfBomb } from '../../src/testing/fixtures/pdf.ts'
import { type AttackRow, inMs, measureVictim, withServer } from './attack.ts'
import { type Call, countAhead, newAccount } from './clients.ts'

/** Bytes of operators that a bomb of 3 KB unpacks to. */
const bombBytes = 1_500_000_000
const accounts = 5
const mb = 1_048_576

export const upload = (call: Call, pdf: Uint8Array) => {
  const form = new FormData()
  form.append('file', new File([new Uint8Array(pdf)], 'a.pdf'))
  return call('POST', '/v1/files', form)
}

/** Small PDFs of one network that unpack to gigabytes, and a PDF of another client. */
export const run = (bombs = 20, ms = 20_000): Promise<AttackRow> =>
  withServer(async (server) => {
    const victim = await newAccount(server, '198.51.100.7')
    const attackers = await Promise.all(
      Array.from({ length: accounts }, (_, at) => newAccount(server, `203.0.113.${at + 1}`)),
    )
    const bomb = makePdfBomb(bombBytes)
    let page = 0
    const read = () => upload(victim, makePdf([`Hello tide ${(page += 1)}`]))
    const attack = Array.from({ length: bombs }, (_, at) => () => {
      const attacker = attackers[at % accounts]
      if (!attacker) throw new Error('no attacker')
      return upload(attacker, bomb)
    })
    await read()
    const rhythm = { ms, everyMs: 500 }
    const alone = ms > 0 ? await measureVictim(read, rhythm) : undefined
    let rss = 0
    const watch = setInterval(() => (rss = Math.max(rss, rssOf(server.pid))), 100)
    const { ahead, own, attacks } = await countAhead(attack, read)
    let isOver = false
    const repeat = attack.map(async (one) => {
      while (!isOver && alone) await one()
    })
    const attacked = alone && (await measureVictim(read, rhythm))
    isOver = true
    await Promise.all(repeat)
    clearInterval(watch)
    const count = (status: number) => attacks.filter((one) => one.status === status).length
    const times =
      alone && attacked
        ? `victim p50 ${inMs(alone.p50)} alone, ${inMs(attacked.p50)} attacked; p95 ${inMs(alone.p95)}, ${inMs(attacked.p95)}; server ${Math.round(rss / mb)} MB; `
        : ''
    const isSame = count(400) + count(503) === bombs
    return {
      name: `5. PDFs: ${bombs} bombs at once of one network`,
      measured: `${times}${count(400)} rejected, ${count(503)} not read; ${ahead} ended before the victim’s`,
      bound: 'p95 at most 2x of alone, or 50 ms; none read',
      isKept:
        own.status === 200 && isSame && (attacked?.p95 ?? 0) <= Math.max(50, 2 * (alone?.p95 ?? 0)),
      isLimited: own.status === 200 && isSame && ahead <= 3,
    }
  })

/** Returns the memory of a process in bytes, 0 where the system does not tell. */
function rssOf(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)])
  return Number(stdout.toString().trim()) * 1_024
}
