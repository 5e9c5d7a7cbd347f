import { type AttackRow, inMs, measureVictim, withServer } from './attack.ts'
import { countAhead, newAgent } from './clients.ts'

const keys = 3
const statement = '<script>let one = [1, 2, 3].map((n) => n * 2)</script><p>some text</p>\n'
export const pageOf = (bytes: number, title: string): string =>
  `<!doctype html><title>${title}</title>${statement.repeat(bytes / statement.length)}`

/** Three keys of one network send large dry runs, a client of another network one of a fifth. */
export const run = (perKey = 8, ms = 30_000, largeBytes = 3_000_000): Promise<AttackRow> =>
  withServer(async (server) => {
    const victim = await newAgent(server, '198.51.100.7')
    const attackers = await Promise.all(
      Array.from({ length: keys }, (_, at) => newAgent(server, `203.0.113.${at + 1}`)),
    )
    const dryRun = (html: string) => ({ html, dryRun: true })
    const small = () => victim('POST', '/api/apps', dryRun(pageOf(largeBytes / 5, 'Victim')))
    const large = attackers.flatMap((attacker) =>
      Array.from(
        { length: perKey },
        (_, at) => () => attacker('POST', '/api/apps', dryRun(pageOf(largeBytes, `Page ${at}`))),
      ),
    )
    await small()
    await large[0]?.()
    const rhythm = { ms, everyMs: 300 }
    const alone = ms > 0 ? await measureVictim(small, rhythm) : undefined
    const { ahead, own, attacks } = await countAhead(large, small)
    let isOver = false
    const repeat = large.map(async (attack) => {
      while (!isOver && alone) await attack()
    })
    const attacked = alone && (await measureVictim(small, rhythm))
    isOver = true
    await Promise.all(repeat)
    const times =
      alone && attacked
        ? `victim p50 ${inMs(alone.p50)} alone, ${inMs(attacked.p50)} attacked; p95 ${inMs(alone.p95)}, ${inMs(attacked.p95)}; `
        : ''
    const scanned = attacks.filter(({ status }) => status === 200).length
    return {
      name: `3. Large pages: ${attacks.length} dry runs of ${largeBytes / 1_000_000} MB at once with three keys`,
      measured: `${times}${ahead} of ${scanned} scanned before the victim’s ${largeBytes / 5_000} KB`,
      bound: 'p95 at most 2x of alone; at most 3 before',
      isKept: own.status === 200 && ahead <= 3 && (attacked?.p95 ?? 0) <= 2 * (alone?.p95 ?? 0),
      // Without turns all are before it. On a loaded machine some end while it arrives.
      isLimited: own.status === 200 && ahead <= attacks.length / 2,
    }
  })
