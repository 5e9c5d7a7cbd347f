/** Images and audio by configured models instead of the embedded generators. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'

import { doctor } from '../../money/ledger/doctor.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import { mediaModel, mediaModels } from '../../testing/fixtures/media-models.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

setDefaultTimeout(60_000)
let t: TestServer | FakeUpstreamServer
let ann: TestAgent
let app = ''
afterEach(async () => {
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
})

type Settings = Parameters<typeof startTestServer>[0]

async function open(ctx: Promise<TestServer>): Promise<void> {
  t = await ctx
  ann = await t.agent('ann')
  app = await ann.publish({ store: true })
}
const openWith = (settings: Settings) => open(startFakeUpstreamServer(settings, mediaModels()))

const ship = { name: 'ship.png', kind: 'sprite', what: 'a ship' }
const hello = { name: 'hello', kind: 'voice', what: 'Hello captain' }

/** Runs a job for these assets and returns its outcome and balance. */
async function made(assets: object[]) {
  const begun = await ann.call('POST', `/apps/${app}/assets`, { assets })
  await t.ctx.jobs.runDue()
  const { job } = Object((await ann.call('GET', `/jobs/${begun.text('job.id')}`)).body)
  const { credits, held } = Object((await ann.call('GET', '/me')).body)
  return { job, credits, held }
}

test('a model generates each kind and is charged by usage', async () => {
  const [PAINTER_MODEL, SPEAKER_MODEL, SOUND_MODEL] = ['demo/image', 'demo/speech', 'demo/speech']
  await open(startTestServer({ PAINTER_MODEL, SPEAKER_MODEL, SOUND_MODEL }))
  const asks = [
    ship,
    { name: 'sea.png', kind: 'picture', what: 'the sea', width: 300, height: 200 },
    hello,
    { name: 'coin', kind: 'sound', what: 'a coin' },
    { name: 'tune', kind: 'music', what: 'calm', seconds: 2 },
  ]
  const { job, credits, held } = await made(asks)
  const makers = [PAINTER_MODEL, PAINTER_MODEL, SPEAKER_MODEL, SOUND_MODEL, SOUND_MODEL]
  const items = asks.map(({ name }, at) => ({ name, state: 'made', maker: makers[at] }))
  expect(job).toMatchObject({ state: 'done', items })
  expect(job.charged).toBeGreaterThan(2)
  expect([credits, held]).toEqual([400 - job.charged, 0])
  const { assets } = Object((await ann.call('GET', `/apps/${app}/assets`)).body)
  const kept = new Map<string, object>(assets.map((one: { name: string }) => [one.name, one]))
  expect(kept.get('ship.png')).toMatchObject({ type: 'image/png', width: 128, maker: 'demo/image' })
  expect(kept.get('sea.png')).toMatchObject({ type: 'image/png', width: 300, height: 200 })
  for (const name of ['hello', 'coin', 'tune']) {
    expect(kept.get(name)).toMatchObject({ type: 'audio/mpeg', maker: 'demo/speech' })
  }
})

test('an icon of a model is charged, except the first of a listed app', async () => {
  await open(startTestServer({ PAINTER_MODEL: 'demo/image' }))
  const put = () => ann.call('PUT', `/apps/${app}/icon`, { make: true })
  expect((await put()).body).toMatchObject({ free: true, credits: 0 })
  const { body } = await put()
  expect(body).toMatchObject({ free: false, credits: 1 })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 399, held: 0 })
})

test('a failed item fails alone and releases its hold', async () => {
  await openWith({ PAINTER_MODEL: 'image/500' })
  const { job, credits, held } = await made([ship, hello])
  expect(job).toMatchObject({
    state: 'done',
    charged: 0,
    items: [
      { name: 'ship.png', state: 'failed', code: 'no_picture', price: 20 },
      { name: 'hello', state: 'made', maker: 'embedded', price: 0 },
    ],
  })
  expect([credits, held]).toEqual([400, 0])
})

test.each(['500', '429', 'bad-json', 'image-empty', 'image-no-picture', 'image-url'])(
  'an image model that returns %s causes no_picture without a charge',
  async (script) => {
    await openWith({ PAINTER_MODEL: `image/${script}` })
    const { job } = await made([ship])
    expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'no_picture' } })
    await ann.call('PATCH', `/apps/${app}`, { store: false })
    const icon = await ann.call('PUT', `/apps/${app}/icon`, { make: true })
    expect([icon.status, icon.code]).toEqual([502, 'no_picture'])
    expect((await ann.call('GET', `/apps/${app}`)).body).toMatchObject({ app: { icon: null } })
    expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400, held: 0 })
  },
)

test.each(['500', 'speech-empty', 'speech-json', 'speech-cut', 'speech-ok'])(
  'a speech model that returns %s, an incomplete sound, gives no_sound',
  async (script) => {
    await openWith({ SPEAKER_MODEL: `speech/${script}` })
    const { job, credits, held } = await made([hello])
    const items = [{ name: 'hello', state: 'failed', code: 'no_sound' }]
    expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'no_sound' }, items })
    expect([credits, held]).toEqual([400, 0])
  },
)

test('not_enough_credits: fails before the model is called', async () => {
  const dear = mediaModel('image', 'image-ok', { per_image: '1' })
  await open(startFakeUpstreamServer({ PAINTER_MODEL: dear.id }, [dear]))
  const assets = { assets: [ship] }
  await expectError(t, 402, 'not_enough_credits', () =>
    ann.call('POST', `/apps/${app}/assets`, assets),
  )
  await ann.call('PATCH', `/apps/${app}`, { store: false })
  await expectError(t, 402, 'not_enough_credits', () =>
    ann.call('PUT', `/apps/${app}/icon`, { make: true }),
  )
})
