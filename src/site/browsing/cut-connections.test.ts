import { test } from 'bun:test'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

import { second } from '../../kernel/time.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { openBrowserSession } from '../../testing/browsers/session.ts'
import { createPlayers, type PlayerCalls } from '../../testing/fixtures/players.ts'
import { seeded } from '../../testing/fixtures/random.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { isThorough, testSeed } from '../../testing/thorough.ts'
import { until } from '../../testing/until.ts'

const cutsMin = isThorough ? 60 : 12
/** A cut comes before this many bytes of the server: in the handshake, between events or in one. */
const bytesMax = 2_500
const games = 8

/** Forwards connections to a port, and cuts each WebSocket after a random number of bytes. */
async function openCuttingProxy(target: number, draw: () => number) {
  let [opened, cuts, isCutting] = [0, 0, true]
  const forward = (client: Socket): void => {
    const server = connect(target)
    let left = Infinity
    const end = (): void => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => {
      if (chunk.toString('latin1').includes('Upgrade: websocket')) {
        opened += 1
        if (isCutting) left = Math.ceil(draw() * bytesMax)
      }
      server.write(chunk)
    })
    server.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left > 0) client.write(chunk)
      else {
        cuts += 1
        client.write(chunk.subarray(0, chunk.length + left), end)
      }
    })
  }
  const proxy = createServer(forward)
  await new Promise<void>((resolve) => void proxy.listen(0, resolve))
  const { port }: AddressInfo = Object(proxy.address())
  return {
    origin: `http://localhost:${port}`,
    /** WebSockets that were opened, and those of them that were cut. */
    opened: () => opened,
    cuts: () => cuts,
    heal: () => void (isCutting = false),
    close: () => proxy.close(),
  }
}

/** Shows the documents that it watches, by query and one by one, whenever they change. */
const html = `<!doctype html><title>Games</title><output></output><p></p><script>
const show = (at, value) => { document.querySelector(at).textContent = JSON.stringify(value) }
service.db.collection('games').onSnapshot(({ docs }) => {
  show('output', docs.map((doc) => [doc.id, doc.data().turn]))
})
service.db.doc('games/g1').onSnapshot((doc) => show('p', doc.exists ? doc.data().turn : null))
</script>`

/** Returns a function that sets, changes or removes a document, as `draw` chooses. */
function openGames({ clock }: TestServer, call: PlayerCalls, draw: () => number) {
  let turn = 0
  return async (): Promise<void> => {
    turn += 1
    // Calls and messages have limits of a second and of a minute.
    clock.advance(second)
    const path = `games/g${Math.floor(draw() * games)}`
    const choice = draw()
    const data = { turn, board: 'x'.repeat(Math.floor(draw() * 400)) }
    if (choice < 0.25) await call('DELETE', `/documents?path=${path}`)
    else if (choice < 0.6) await call('PUT', '/documents', { path, data })
    else await call('PATCH', '/documents', { path, data, create: true })
  }
}

test.skipIf(findBrowser('chromium') === undefined)(
  `a page whose connection is cut at random points misses no document (seed ${testSeed})`,
  async () => {
    const draw = seeded(testSeed)
    let t: TestServer
    const session = await openBrowserSession(() => t)
    const proxy = await openCuttingProxy(Number(new URL(session.origin).port), draw)
    t = await startTestServer({ APP_URL: proxy.origin })
    const app = await (await t.agent('ann')).publish({ html })
    const call = await createPlayers(() => ({ t, app })).person('olga')
    const play = openGames(t, call, draw)
    const page = await session.browser.newPage()
    await page.goto(`${proxy.origin}/a/${app}`)
    const agree = page.getByRole('button', { name: 'Share and play' })
    await until(async () => {
      await agree.click({ timeout: 1_000 }).catch(() => undefined)
      return (await agree.count()) === 0
    })
    const inner = page.frameLocator('iframe')
    for (let cut = 0; cut < cutsMin; cut += 1) {
      await until(() => proxy.opened() > cut)
      while (proxy.cuts() === cut) await play()
      // The page is away, and misses these.
      for (let missed = 0; missed < 3; missed += 1) await play()
    }
    proxy.heal()
    await call('PUT', '/documents', { path: 'games/last', data: { turn: -1 } })
    const query = { collection: 'games' }
    const { documents } = Object((await call('POST', '/documents/query', query)).body)
    const kept: [string, number][] = documents.map(
      ({ id, data }: { id: string; data: { turn: number } }) => [id, data.turn],
    )
    const one = kept.find(([id]) => id === 'g1')?.[1] ?? null
    await inner.locator('output').getByText(JSON.stringify(kept), { exact: true }).waitFor()
    await inner.locator('p').getByText(JSON.stringify(one), { exact: true }).waitFor()
    await page.close()
    proxy.close()
    await session.close()
    await t.close()
  },
  180_000,
)
