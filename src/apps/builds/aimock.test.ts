import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'

import { LLMock } from '@copilotkit/aimock'

import {
  providerPrice,
  type ProviderServer,
  startWithProviders,
} from '../../testing/fixtures/with-providers.ts'

setDefaultTimeout(60_000)

/** Returns usage of a call in the format of each protocol. */
const usage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  input_tokens: prompt,
  output_tokens: completion,
  promptTokenCount: prompt,
  candidatesTokenCount: completion,
})
const callUsage = usage(1_000, 500)
const page = (body: string) =>
  `\`\`\`html\n<!doctype html><html><head><title>Boats</title></head><body>\n${body}\n</body></html>\n\`\`\``
const plan = '{"title":"Boats","description":"Boats at sea.","shelf":"sim","plan":"a harbour"}'
const good = page('<h1>Boats</h1><script>let boats = 1</script>')
const broken = page('<h1>Boats</h1><script>let = = 1</script>')
const outside = page('<h1>Boats</h1><script src="https://cdn.test/x.js"></script>')

/** Credits of a call of 1,000 and 500 tokens. */
const callCredits =
  1_000 * (1_000 * Number(providerPrice.prompt) + 500 * Number(providerPrice.completion))

const mock = new LLMock({ port: 0 })
const planning = /ONE JSON object/
const writing = /ONE complete HTML page/

/** Configures the replies of the mock: a plan, then one reply per attempt. */
function script(prompt: string, tries: string[], used = callUsage): void {
  mock.on({ userMessage: prompt, systemMessage: planning }, { content: plan, usage: used })
  mock.on({ userMessage: prompt, systemMessage: writing }, { content: tries[0] ?? '', usage: used })
  for (const [at, content] of tries.slice(1).entries()) {
    const match = { userMessage: /^The page was checked/, systemMessage: writing }
    mock.on({ ...match, sequenceIndex: at }, { content, usage: used })
  }
}

beforeAll(() => mock.start())
afterAll(() => mock.stop())
beforeEach(() => mock.reset())

const kinds = [
  { kind: 'openai', base: '/v1', model: 'gpt-4.1-mini', declines: 'content_filter' },
  { kind: 'anthropic', base: '/v1', model: 'claude-haiku-4-5', declines: 'refusal' },
]

describe.each(kinds)('a builder with the $kind protocol', ({ kind, base, model, declines }) => {
  let ctx: ProviderServer
  let key = ''
  beforeAll(async () => {
    ctx = await startWithProviders(
      [{ id: 'mock/builder', kind, model, baseUrl: mock.url + base }],
      {
        BUILDER_MODEL: 'mock/builder',
      },
    )
  })
  beforeEach(async () => {
    key = (await call('POST', '/keys', {})).key
  })
  afterAll(async () => {
    expect(await ctx.findProblems()).toEqual([])
    await ctx.close()
  })

  async function call(method: string, path: string, body?: unknown) {
    const response = await fetch(`${ctx.origin}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, ...Object(await response.json()) }
  }

  async function build(prompt: string) {
    const begun = await call('POST', '/apps', { prompt })
    expect(begun).toMatchObject({ status: 202, job: { state: 'queued', price: begun.price } })
    await ctx.ctx.jobs.runDue()
    const { job } = await call('GET', `/jobs/${begun.job.id}`)
    const me = await call('GET', '/me')
    expect(me).toMatchObject({ held: 0 })
    return { job, app: begun.app, price: begun.price, left: me.credits }
  }

  test('publishes a page that passes and charges its two calls', async () => {
    script('a harbour', [good])
    const { job, app, left } = await build('a harbour')
    expect(job).toMatchObject({ state: 'done', charged: 2 * callCredits, result: { version: 1 } })
    expect(left).toBeCloseTo(400 - 2 * callCredits)
    const history = await fetch(`${ctx.origin}/queries/history`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await history.json()).toMatchObject({
      data: [
        {
          model: 'mock/builder',
          source: 'build',
          status: 'completed',
          type: 'chat',
          request_id: job.id,
          input_count: 2_000,
          output_count: 1_000,
          estimated: false,
          price_in_usd: job.charged / 1_000,
          held_in_usd: expect.closeTo(job.price / 1_000, 9),
        },
      ],
    })
    const shown = await fetch(`${ctx.origin}/a/${app.id}/data`)
    expect(await shown.text()).toContain('let boats = 1')
  })

  test('repairs a page with errors and charges each attempt', async () => {
    script('a harbour', [broken, outside, good])
    const { job, price } = await build('a harbour')
    expect(job.charged).toBeCloseTo(4 * callCredits)
    expect(job.charged).toBeLessThanOrEqual(price)
    expect(job).toMatchObject({ state: 'done', error: null })
    const bodies = mock.getRequests().map(({ body }) => JSON.stringify(body))
    expect(bodies).toHaveLength(4)
    expect(bodies[2]).toMatch(/Script 1 does not parse/)
    expect(bodies[3]).toMatch(/cdn\.test/)
  })

  test('fails without charge after two repairs', async () => {
    script('a harbour', [broken, broken, broken])
    const { job, app, left } = await build('a harbour')
    expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'build_invalid' } })
    expect(mock.getRequests()).toHaveLength(4)
    expect(left).toBe(400)
    expect(await call('GET', `/apps/${app.id}`)).toMatchObject({ status: 404 })
  })

  test.each([planning, writing])(
    'a declined request (%p) fails without charge',
    async (rejected) => {
      const no = { content: 'I cannot help with that.', finishReason: declines, usage: callUsage }
      mock.on({ userMessage: 'a harbour', systemMessage: rejected }, no)
      script('a harbour', [good])
      const { job, left } = await build('a harbour')
      expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'model_refused' } })
      expect(left).toBe(400)
    },
  )

  test.each([401, 429, 500])(
    'a %i of the model gives no_builder and costs nothing',
    async (status) => {
      mock.on({ userMessage: 'a harbour' }, { error: { message: 'No.' }, status })
      const { job, left } = await build('a harbour')
      expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'no_builder' } })
      expect(left).toBe(400)
    },
  )

  test('never charges more than the price', async () => {
    script('a harbour', [broken, broken, good], usage(2_000_000_000, 2_000_000_000))
    const { job, price, left } = await build('a harbour')
    expect(job.charged).toBeGreaterThan(4 * callCredits)
    expect(job.charged).toBeLessThanOrEqual(price)
    expect(left).toBeCloseTo(400 - job.charged)
    expect(job).toMatchObject({ state: 'done', price })
  })

  test('a content filter error of the upstream is a declined request', async () => {
    const error = { message: 'Flagged.', type: 'content_policy', code: 'content_policy_violation' }
    mock.on({ userMessage: 'a harbour' }, { error, status: 400 })
    expect((await build('a harbour')).job).toMatchObject({ error: { code: 'model_refused' } })
  })

  test('not_enough_credits: does not call the model', async () => {
    const { price } = await call('POST', '/apps', { prompt: 'a harbour', dryRun: true })
    Object.assign(ctx.ctx.config, { embeddedAssetCredits: 50 })
    const response = await call('POST', '/apps', { prompt: 'a harbour' })
    Object.assign(ctx.ctx.config, { embeddedAssetCredits: 0 })
    expect(price).toBeLessThan(400)
    expect(response).toMatchObject({ status: 402, code: 'not_enough_credits' })
    expect(mock.getRequests()).toEqual([])
  })
})
