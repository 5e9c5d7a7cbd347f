import { afterAll, describe, expect, test } from 'bun:test'

import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { ApiError, FinishReason, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai'
import { embedMany, generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'

import { catchError } from '../catch-error.ts'
import { startClientServer } from './server.ts'

const model = 'demo/chat'

const gateway = await startClientServer()
afterAll(() => gateway.stop())

const origin = () => gateway.baseUrls[1] ?? ''

describe('@google/genai', () => {
  const client = (apiVersion = 'v1beta', apiKey = gateway.key) =>
    new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl: origin() } }).models
  const depth = {
    name: 'depth',
    description: 'How deep the water is.',
    parameters: {
      type: Type.OBJECT,
      properties: { place: { type: Type.STRING } },
      required: ['place'],
    },
  }

  test('a text is generated and paid, below v1beta, v1 and v1alpha', async () => {
    for (const version of ['v1beta', 'v1', 'v1alpha']) {
      const before = await gateway.spent()
      const contents = 'ahoy there'
      const response = await client(version).generateContent({ model, contents })
      expect(response.text).toBe('ahoy there')
      expect(response.candidates?.[0]).toMatchObject({ finishReason: 'STOP', index: 0 })
      expect(response.usageMetadata?.promptTokenCount).toBeGreaterThan(0)
      expect(response.usageMetadata?.candidatesTokenCount).toBeGreaterThan(0)
      expect(await gateway.spent()).toBeGreaterThan(before)
    }
  })

  test('a stream arrives in pieces and ends with its usage', async () => {
    const contents = 'one two three four'
    const pieces = await Array.fromAsync(await client().generateContentStream({ model, contents }))
    expect(pieces.map(({ text }) => text ?? '').join('')).toBe(contents)
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { totalTokenCount: expect.any(Number) },
    })
  })

  test('a function is called and its response repeated, whole and streamed', async () => {
    const tools = [{ functionDeclarations: [depth] }]
    const mode = FunctionCallingConfigMode.ANY
    const config = { tools, toolConfig: { functionCallingConfig: { mode } } }
    const question = { role: 'user', parts: [{ text: 'call depth' }] }
    const whole = await client().generateContent({ model, contents: [question], config })
    const [call] = whole.functionCalls ?? []
    expect(call).toMatchObject({ name: 'depth', args: { place: expect.any(String) } })
    const streamed = await Array.fromAsync(
      await client().generateContentStream({ model, contents: [question], config }),
    )
    expect(streamed.flatMap(({ functionCalls }) => functionCalls ?? [])).toMatchObject([
      { name: 'depth', args: call?.args },
    ])
    const result = { functionResponse: { name: 'depth', response: { output: 'nine fathoms' } } }
    const contents = [
      question,
      whole.candidates?.[0]?.content ?? {},
      { role: 'user', parts: [result] },
    ]
    const after = await client().generateContent({ model, contents, config: { tools } })
    expect(after.text).toContain('nine fathoms')
  })

  test('JSON follows a schema, and thoughts are shown on request', async () => {
    const responseSchema = { type: Type.OBJECT, properties: { depth: { type: Type.INTEGER } } }
    const config = { responseMimeType: 'application/json', responseSchema }
    const json = await client().generateContent({ model, contents: 'how deep?', config })
    expect(JSON.parse(json.text ?? '')).toEqual({ depth: expect.any(Number) })
    const thinkingConfig = { includeThoughts: true, thinkingBudget: 1_024 }
    const thought = await client().generateContent({
      model,
      contents: 'hello',
      config: { thinkingConfig },
    })
    const parts = thought.candidates?.[0]?.content?.parts ?? []
    expect(parts.map((part) => part.thought === true)).toEqual([true, false])
  })

  test('several candidates have the probabilities of their tokens, whole and streamed', async () => {
    const config = { candidateCount: 2, responseLogprobs: true, logprobs: 1 }
    const request = { model, contents: 'ahoy there', config }
    const whole = await client().generateContent(request)
    const streamed = await Array.fromAsync(await client().generateContentStream(request))
    for (const responses of [[whole], streamed]) {
      const candidates = responses.flatMap((response) => response.candidates ?? [])
      for (const index of [0, 1]) {
        const own = candidates.filter((candidate) => candidate.index === index)
        const parts = own.flatMap(({ content }) => content?.parts ?? [])
        const tokens = own.flatMap(({ logprobsResult }) => logprobsResult?.chosenCandidates ?? [])
        const tops = own.flatMap(({ logprobsResult }) => logprobsResult?.topCandidates ?? [])
        expect(parts.map(({ text }) => text).join('')).toBe('ahoy there')
        expect(tokens.map(({ token }) => token).join('')).toBe('ahoy there')
        expect(tops.map((top) => top.candidates?.length)).toEqual(tokens.map(() => 1))
        expect(own.at(-1)?.finishReason).toBe(FinishReason.STOP)
      }
    }
    const { candidatesTokenCount: one } =
      (await client().generateContent({ model, contents: 'ahoy there' })).usageMetadata ?? {}
    expect(whole.usageMetadata?.candidatesTokenCount).toBe(2 * Number(one))
  })

  test('tokens are counted, texts embedded, models listed', async () => {
    const before = await gateway.spent()
    const { totalTokens } = await client().countTokens({ model, contents: 'ahoy there' })
    expect(totalTokens).toBeGreaterThan(0)
    expect(await gateway.spent()).toBe(before)
    const contents = ['one', 'two']
    const { embeddings } = await client().embedContent({ model: 'demo/embedding', contents })
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([
      expect.any(Number),
      expect.any(Number),
    ])
    const listed = await Array.fromAsync(await client().list())
    expect(listed.map(({ name }) => name)).toContain(`models/${model}`)
    expect((await client().get({ model })).inputTokenLimit).toBeGreaterThan(0)
  })

  test('errors have the status and the message of Google', async () => {
    const failure = async (work: Promise<unknown>) => {
      const error = await catchError(work)
      return error instanceof ApiError ? { status: error.status, text: error.message } : error
    }
    const request = { model, contents: 'ahoy' }
    expect(await failure(client('v1beta', 'gk_no').generateContent(request))).toMatchObject({
      status: 401,
      text: expect.stringContaining('UNAUTHENTICATED'),
    })
    const unknown = client().generateContent({ ...request, model: 'no/such' })
    expect(await failure(unknown)).toMatchObject({
      status: 404,
      text: expect.stringContaining('NOT_FOUND'),
    })
    const spoken = client().generateContent({
      ...request,
      config: { responseModalities: ['AUDIO'] },
    })
    expect(await failure(spoken)).toMatchObject({
      status: 400,
      text: expect.stringContaining('responseModalities must be'),
    })
  })
})

describe('AI SDK, google', () => {
  const google = () =>
    createGoogleGenerativeAI({ baseURL: `${origin()}/v1beta`, apiKey: gateway.key })

  test('a text, a stream, tools and embeddings work', async () => {
    const chat = google()(model)
    const whole = await generateText({ model: chat, prompt: 'ahoy there' })
    expect([whole.text, whole.finishReason]).toEqual(['ahoy there', 'stop'])
    const streamed = streamText({ model: chat, prompt: 'one two three' })
    expect((await Array.fromAsync(streamed.textStream)).join('')).toBe('one two three')
    expect((await streamed.usage).totalTokens).toBeGreaterThan(0)
    const called = await generateText({
      model: chat,
      prompt: 'call depth',
      stopWhen: isStepCount(2),
      tools: {
        depth: tool({
          description: 'How deep the water is.',
          inputSchema: z.object({ place: z.string() }),
          execute: async () => 'nine fathoms',
        }),
      },
    })
    expect(called.text).toContain('nine fathoms')
    const { embeddings } = await embedMany({
      model: google().embedding('demo/embedding'),
      values: ['one', 'two'],
    })
    expect(embeddings).toHaveLength(2)
  })
})
