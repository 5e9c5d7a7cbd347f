import { afterAll, describe, expect, test } from 'bun:test'

import { type Json, recordOf } from '../../kernel/schema.ts'
import { type ProviderModel, startWithProviders } from '../../testing/fixtures/with-providers.ts'
import { isPart } from '../../testing/thorough.ts'

/** A fake provider of every kind that rejects all requests. */
const seen: Json[] = []
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    seen.push(Object(await request.json()))
    return Response.json({ error: { type: 'none', message: 'None.' } }, { status: 400 })
  },
})

/** Only output costs: 1,000 nano-USD a token, so that a hold shows the tokens that it covers. */
const price = { prompt: '0', completion: '0.000001' }
const nanoUsdPerToken = 1_000

/** The limits in a request to a kind of provider. Undefined for those that it leaves out. */
const limitsIn: Record<string, (body: Json) => { output: unknown; thinking: unknown }> = {
  anthropic: ({ max_tokens, thinking }) => ({
    output: max_tokens,
    thinking: recordOf(thinking).budget_tokens,
  }),
  google: ({ generationConfig }) => {
    const { maxOutputTokens, thinkingConfig } = recordOf(generationConfig)
    return { output: maxOutputTokens, thinking: recordOf(thinkingConfig).thinkingBudget }
  },
  cohere: ({ max_tokens, thinking }) => ({
    output: max_tokens,
    thinking: recordOf(thinking).token_budget,
  }),
  bedrock: ({ inferenceConfig, additionalModelRequestFields: more }) => ({
    output: recordOf(inferenceConfig).maxTokens,
    thinking: recordOf(recordOf(more).thinking).budget_tokens,
  }),
  openai: ({ max_tokens, max_completion_tokens, max_output_tokens }) => ({
    output: max_tokens ?? max_completion_tokens ?? max_output_tokens,
    thinking: undefined,
  }),
}

const upstreams = [
  ['anthropic', 'claude-haiku-4-5'],
  ['anthropic', 'claude-opus-5'],
  ['anthropic', 'minimax-m2'],
  ['google', 'gemini-2.5-flash'],
  ['google', 'gemini-2.5-pro'],
  ['google', 'gemini-3-pro-preview'],
  ['cohere', 'command-a-reasoning-08-2025'],
  ['bedrock', 'anthropic.claude-haiku-4-5-20251001-v1:0'],
  ['bedrock', 'amazon.nova-2-lite-v1:0'],
  ['bedrock', 'openai.gpt-oss-120b-1:0'],
  ['openai', 'gpt-5-mini'],
] as const

/** The output that the operator states for a model; 0 for one without a limit of its own. */
const sizes = [
  { maxOutput: 1_000, contextLength: 100_000 },
  { maxOutput: 20_000, contextLength: 100_000 },
  { maxOutput: 0, contextLength: 100_000 },
  { maxOutput: 0, contextLength: 4_000 },
]
const models = upstreams.flatMap(([kind, model], at) =>
  sizes.map((size, row): ProviderModel & typeof size => ({
    id: `${kind}/m${at}-${row}`,
    kind,
    model,
    baseUrl: `http://127.0.0.1:${provider.port}`,
    price,
    responses: kind === 'openai' && row === 0,
    ...size,
  })),
)
const ctx = await startWithProviders(models)
const gus = await ctx.gus('50')
afterAll(async () => {
  await ctx.close()
  await provider.stop(true)
})

/** The parameters of a request that every API of clients has. */
interface OutputParams {
  max: number | undefined
  isThinking: boolean
}

const budget = 12_000
/** Gemini 2.5 Pro thinks at least so many tokens, which end at the limit of the output. */
const leastThinking = 128
/** The APIs whose clients set a budget that providers of a kind get as it is. */
const apiOf: Record<string, string> = { anthropic: 'messages', google: 'gemini', cohere: 'cohere' }
const hello = [{ role: 'user', content: 'hello' }]

/** The same request in every API of clients. */
const clients: Record<string, (model: string, params: OutputParams) => [path: string, body: Json]> =
  {
    chat: (model, { max, isThinking }) => [
      '/v1/chat/completions',
      {
        model,
        messages: hello,
        ...(max !== undefined && { max_tokens: max }),
        ...(isThinking && { reasoning_effort: 'high' }),
      },
    ],
    'chat with a budget': (model, { max, isThinking }) => [
      '/v1/chat/completions',
      {
        model,
        messages: hello,
        stream: true,
        ...(max !== undefined && { max_completion_tokens: max }),
        ...(isThinking && { reasoning: { max_tokens: budget } }),
      },
    ],
    responses: (model, { max, isThinking }) => [
      '/v1/responses',
      {
        model,
        input: 'hello',
        ...(max !== undefined && { max_output_tokens: max }),
        ...(isThinking && { reasoning: { effort: 'high' } }),
      },
    ],
    messages: (model, { max, isThinking }) => [
      '/v1/messages',
      {
        model,
        messages: hello,
        // The API requires a limit.
        max_tokens: max ?? 64_000,
        ...(isThinking && { thinking: { type: 'enabled', budget_tokens: budget } }),
      },
    ],
    gemini: (model, { max, isThinking }) => [
      `/v1beta/models/${model}:generateContent`,
      {
        contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
        generationConfig: {
          ...(max !== undefined && { maxOutputTokens: max }),
          ...(isThinking && { thinkingConfig: { thinkingBudget: budget } }),
        },
      },
    ],
    cohere: (model, { max, isThinking }) => [
      '/v2/chat',
      {
        model,
        messages: hello,
        ...(max !== undefined && { max_tokens: max }),
        ...(isThinking && { thinking: { type: 'enabled', token_budget: budget } }),
      },
    ],
  }

const clientNames = Object.keys(clients)

/**
 * In CI a client sends a fourth of the rows to each model, one that thinks and one that does not,
 * and others to the next model.
 */
describe.each(Object.entries(clients))('a client of %s', (client, requestOf) => {
  const rows = [undefined, 50, 9_000, 1_000_000].flatMap((max) =>
    [false, true].map((isThinking) => ({ max, isThinking })),
  )

  test.each(upstreams)('gets no more output than is held from %s, %s', async (kind, name) => {
    const from = clientNames.indexOf(client) + upstreams.findIndex(([, one]) => one === name)
    for (const [at, model] of models.filter((one) => one.model === name).entries()) {
      for (const { max, isThinking } of rows.filter((_, row) =>
        isPart(from + at + (row >> 1) + 2 * (row & 1), 4),
      )) {
        const before = seen.length
        const [path, body] = requestOf(model.id, { max, isThinking })
        const response = await gus.call('POST', path, body)
        expect([response.status, seen.length]).toEqual([400, before + 1])
        const { held, charged } = await ctx.lastUse(gus)
        const { output, thinking } = limitsIn[kind]?.(seen.at(-1) ?? {}) ?? {}
        const row = { model, max, isThinking, output, thinking, held }
        const covered = Number(held) / nanoUsdPerToken
        // A request without a limit ends at the model's own.
        const sent = Number(output ?? (model.maxOutput || model.contextLength))
        const isOwnBudget = apiOf[kind] === client
        expect({
          ...row,
          isCovered: sent <= covered,
          hasLimit: max === undefined || output !== undefined,
          isWithinLimit: isOwnBudget || !(Number(thinking) > Math.max(sent, leastThinking)),
        }).toEqual({ ...row, isCovered: true, hasLimit: true, isWithinLimit: true })
        if (max !== undefined) expect(covered).toBeLessThanOrEqual(max)
        expect<bigint>(charged).toBe(0n)
      }
    }
  })
})

test('the hold covers the limit of every choice', async () => {
  for (const { id, kind } of models.filter((model) => ['openai', 'google'].includes(model.kind))) {
    for (const max of [undefined, 50, 9_000]) {
      const more = { n: 3, ...(max !== undefined && { max_tokens: max }) }
      await gus.call('POST', '/v1/chat/completions', { model: id, messages: hello, ...more })
      const sent = seen.at(-1) ?? {}
      const { n = recordOf(sent.generationConfig).candidateCount } = sent
      const limit = limitsIn[kind]?.(sent).output
      const covered = Number((await ctx.lastUse(gus)).held) / nanoUsdPerToken
      const own = models.find((model) => model.id === id)?.maxOutput
      expect({ id, max, n, isCovered: 3 * Number(limit ?? own) <= covered }).toEqual({
        id,
        max,
        n: 3,
        isCovered: true,
      })
    }
  }
})

test('nothing is held after all of these requests', async () => {
  const { body } = await gus.call('POST', '/credits/balance')
  expect([Reflect.get(Object(body), 'held'), await ctx.findProblems()]).toEqual([0, []])
})
