import { type AttackRow, inMs, withServer } from './attack.ts'
import { type Call, countAhead, newAgent } from './clients.ts'

const prompt = 'a packing list with tent, boots and a map'

/** Starts a build and waits for its end. Returns its state. */
export async function build(call: Call): Promise<unknown> {
  const { status, body } = await call('POST', '/api/apps', { prompt })
  if (status !== 202) return status
  const job: Record<string, unknown> = Object(body.job)
  for (;;) {
    const { body: now } = await call('GET', `/api/jobs/${String(job.id)}?wait=30`)
    const { state }: Record<string, unknown> = Object(now.job)
    if (state !== 'queued' && state !== 'running') return state
  }
}

/** Many keys of one network with one open build each, and the build of another client. */
export const run = (keys = 12, rounds = 3): Promise<AttackRow> =>
  withServer(
    async (server) => {
      const victim = await newAgent(server, '198.51.100.7')
      // One address gets three keys a day, so the attacker uses several of the network.
      const attackers = await Promise.all(
        Array.from({ length: keys }, (_, at) => newAgent(server, `203.0.113.${at + 1}`)),
      )
      const timed = async (work: () => Promise<unknown>): Promise<number> => {
        const startedAt = performance.now()
        await work()
        return performance.now() - startedAt
      }
      await build(victim)
      const alone: number[] = []
      for (let round = 0; round < rounds; round += 1) alone.push(await timed(() => build(victim)))
      const attacked: number[] = []
      let mostAhead = 0
      let state: unknown
      for (let round = 0; round < Math.max(1, rounds); round += 1) {
        const { ahead, own } = await countAhead(
          attackers.map((attacker) => () => build(attacker)),
          async () => {
            let result: unknown
            attacked.push(await timed(async () => (result = await build(victim))))
            return result
          },
        )
        mostAhead = Math.max(mostAhead, ahead)
        state = own
      }
      const [before, after] = [Math.max(...alone), Math.max(...attacked)]
      const times = rounds > 0 ? `victim ${inMs(before)} alone, ${inMs(after)} attacked; ` : ''
      return {
        name: `4. Builds: ${keys} keys of one network with one open build each`,
        measured: `${times}${mostAhead} of ${keys} ended before the victim’s`,
        bound: `at most 2x of alone; at most ${slots + 1} before`,
        isKept: state === 'done' && mostAhead <= slots + 1 && after <= 2 * before,
        isLimited: state === 'done' && mostAhead <= slots + 1,
      }
    },
    { BUILDER_BROWSER: rounds > 0 ? 'auto' : 'off', DEMO_MODELS: 'on', BUILDS_PER_HOUR: '0' },
  )

/** Builds that run at once (src/kernel/limits.ts). */
const slots = 4
