import {
  type AttackRow,
  getFrom,
  inMs,
  measureVictim,
  shareOfCore,
  startFlood,
  withServer,
} from './attack.ts'

/** REQUESTS_PER_MINUTE is 240 by default, and a batch counts 50. One refills within the trial. */
const batchesPerMinute = 5
const batch = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))

/** 50 batches of 50 `tools/list` a second from one address, and a client that reads one page. */
export const run = (ms = 10_000): Promise<AttackRow> =>
  withServer(async (server) => {
    const { port } = server
    const send = getFrom(server, '/api/on', '198.51.100.7')
    const attacker = {
      port,
      path: '/mcp',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-forwarded-for': '203.0.113.5',
      },
      body: JSON.stringify(batch),
      perSecond: 50,
    }
    await startFlood({ ...attacker, perSecond: 1, ms: 1 }).done
    const rhythm = { ms, everyMs: 300 }
    const alone = await measureVictim(send, rhythm)
    let attacked = alone
    const flood = startFlood({ ...attacker, ms: ms + 1_000 })
    await Bun.sleep(500)
    const share = await shareOfCore(server, async () => {
      attacked = await measureVictim(send, rhythm)
    })
    const responses = await flood.done
    const counts = JSON.stringify(responses)
    return {
      name: '2. MCP batches: 50 a second of 50 tools/list',
      measured: `victim p50 ${inMs(alone.p50)} alone, ${inMs(attacked.p50)} attacked; p95 ${inMs(alone.p95)}, ${inMs(attacked.p95)}; ${(share * 100).toFixed(0)} % of a core; responses ${counts}`,
      bound: 'p95 at most 2x of alone, or 20 ms',
      isKept: attacked.p95 <= Math.max(20, 2 * alone.p95),
      isLimited: (responses['200'] ?? 0) <= batchesPerMinute && (responses['429'] ?? 0) > 0,
    }
  })
