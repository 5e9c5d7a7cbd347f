/** All directions of one API: most tests read back what another direction wrote. */
import { afterAll, describe, expect, test } from 'bun:test'

import { GoogleGenAI } from '@google/genai'

import { ApiError } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import type { ChatRequest, Message, ToolChoice } from '../conversation/chat-request.ts'
import type { Target } from '../conversation/codec.ts'
import { encodeEvent, EventReader } from '../events.ts'
import { createUsage } from '../models/usage.ts'
import { decodeGeneration } from './decode.ts'
import { geminiCodec } from './encode.ts'
import { GenerateReader, readWhole } from './read.ts'
import { createGeminiClient } from './write.ts'

const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const png = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgoAAAA' } }
const image = {
  type: 'image',
  source: { data: 'iVBORw0KGgoAAAA', mediaType: 'image/png' },
} as const
const decode = (body: object) => decodeGeneration({ contents: hello, ...body }, 'a/b', false)
const target = (model = 'gemini-2.5-flash', more: Partial<Target> = {}): Target => ({
  model,
  isStream: false,
  outputMax: 1_000,
  stopsItself: false,
  ...more,
})
const chat = (messages: Message[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages,
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  ...more,
})
const userMessage = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const encode = (request: ChatRequest, to = target()) => geminiCodec.encode(request, to).body
const withoutRaw = ({ raw: _, ...request }: ChatRequest) => request
const look = {
  name: 'look',
  parameters: { type: 'object', properties: { at: { type: 'number' } } },
}
const call = (id: string, more: object = {}) => ({
  type: 'call' as const,
  id,
  name: 'look',
  arguments: '{"at":1}',
  ...more,
})
const final = {
  usage: createUsage({ prompt: 11, cached: 4, completion: 9, reasoning: 2 }),
  cost: 0.5,
}
const options = { responseId: 'r', model: 'asked/for', showsThoughts: true }

describe('a request of a client', () => {
  test('keeps all content in its order, and results with their media', () => {
    const called = (id?: string) => ({ functionCall: { id, name: 'look', args: { at: 1 } } })
    const { messages } = decode({
      system_instruction: { parts: [{ text: 'Be' }, { text: 'brief.' }] },
      contents: [
        { parts: [{ text: 'Look.' }, { inline_data: { mime_type: 'image/jpg', data: 'AAAA' } }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true, thoughtSignature: 's1' },
            { text: 'I look.', thoughtSignature: 's2' },
            { ...called(), thoughtSignature: 's3' },
            called('own'),
          ],
        },
        {
          parts: [
            { functionResponse: { id: 'own', response: { error: 'dark' } } },
            { functionResponse: { name: 'look', response: { output: 9 }, parts: [png] } },
            { text: 'Go on.' },
          ],
        },
      ],
    }).request
    const signed = { type: 'thinking', origin: 'gemini' } as const
    expect(messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be\n\nbrief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', source: { data: 'AAAA', mediaType: 'image/jpeg' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { ...signed, text: 'Hm.', signature: 's1' },
          { type: 'text', text: 'I look.' },
          { ...signed, text: '', signature: 's2' },
          call('call_0', { signature: 's3' }),
          call('own'),
        ],
      },
      { role: 'tool', callId: 'own', content: [{ type: 'text', text: 'dark' }], isError: true },
      { role: 'tool', callId: 'call_0', content: [{ type: 'text', text: '{"output":9}' }, image] },
      userMessage('Go on.'),
    ])
  })

  test('keeps its options, tools and schemas', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { places: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1' } },
    }
    const decoded = decode({
      models: ['c/d'],
      tools: [
        { functionDeclarations: [{ name: 'depth', parameters }, { name: 'other' }] },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['depth'] } },
      labels: { a: 'b' },
      store: false,
      safetySettings: [{ category: 'A', threshold: 'B' }],
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        seed: null,
        maxOutputTokens: 77,
        stopSequences: ['end'],
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT' },
        thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true },
      },
    })
    expect(decoded).toMatchObject({ model: 'a/b', models: ['c/d'], search: true, isStream: false })
    expect(decoded.showsThoughts).toBe(true)
    expect(decoded.ignored).toEqual({
      passed: ['labels'],
      written: ['safetySettings', 'labels', 'store'],
    })
    const places = { type: 'array', items: { type: 'string' }, minItems: 1 }
    expect(withoutRaw(decoded.request)).toEqual({
      messages: [userMessage('Hello')],
      tools: [
        { name: 'depth', parameters: { type: 'object', properties: { places } } },
        { name: 'other' },
      ],
      toolChoice: { mode: 'required', names: ['depth'] },
      outputMax: 77,
      choices: 1,
      sampling: { temperature: 0.5, topP: 0.9, topK: 40 },
      stop: ['end'],
      reasoning: { effort: 'low', budget: 2_000, summary: 'auto' },
      format: { type: 'schema', name: 'output', schema: { type: 'object' } },
      extra: {},
    })
  })

  test('the default level HIGH asks for no effort, and a budget of 0 for none', () => {
    const reasoningOf = (thinkingConfig: object) =>
      decode({ generationConfig: { thinkingConfig } }).request.reasoning
    expect(reasoningOf({ thinkingLevel: 'HIGH' })).toBeUndefined()
    expect(reasoningOf({ thinkingLevel: 'LOW' })).toEqual({ effort: 'low' })
    expect([0, -1].map((thinkingBudget) => reasoningOf({ thinkingBudget }))).toEqual([
      { effort: 'none' },
      undefined,
    ])
  })

  const turn = (part: object, role = 'user') => ({ contents: [{ role, parts: [part] }] })
  const config = (generationConfig: object) => ({ generationConfig })
  test.each([
    [{ contents: [] }, 'contents'],
    [turn({ text: 'x' }, 'system'), 'contents'],
    [turn({ functionResponse: { name: 'depth' } }), 'contents'],
    [turn({ functionCall: {} }, 'model'), 'contents'],
    [turn({ fileData: { fileUri: 'https://files.example/a.pdf' } }), 'contents'],
    [{ cachedContent: 'caches/1' }, 'cachedContent'],
    [{ tools: [{ codeExecution: {} }] }, 'tools.codeExecution'],
    [config({ candidateCount: 0 }), 'generationConfig.candidateCount'],
    [config({ responseLogprobs: true, logprobs: 21 }), 'generationConfig.logprobs'],
    [config({ responseMimeType: 'text/x.enum' }), 'generationConfig.responseMimeType'],
    [config({ maxOutputTokens: 0 }), 'generationConfig.maxOutputTokens'],
    [config({ temperature: 'hot' }), 'generationConfig.temperature'],
  ])('%j is rejected, naming %s', (body, param) => {
    const error = expect.objectContaining({ details: [expect.objectContaining({ param })] })
    expect(() => decode(body)).toThrow(error)
  })
})

describe('a request to Google', () => {
  const turns: Message[] = [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    userMessage('Look.'),
    {
      role: 'assistant',
      content: [
        { type: 'thinking', text: 'Claude.', signature: 's', origin: 'messages' },
        { type: 'thinking', text: 'Hm.', signature: 's1', origin: 'gemini' },
        { type: 'text', text: '' },
        call('a', { signature: 's2' }),
        call('b'),
      ],
    },
    { role: 'tool', callId: 'a', content: [{ type: 'text', text: 'dark' }, image] },
    { role: 'tool', callId: 'b', content: [{ type: 'text', text: '{"output":9}' }], isError: true },
    userMessage('Go on.'),
  ]

  test('merges turns, keeps signatures of Google, and names results by their calls', () => {
    const called = { name: 'look', args: { at: 1 } }
    const results = [
      { functionResponse: { id: 'a', name: 'look', response: { result: 'dark' }, parts: [png] } },
      { functionResponse: { id: 'b', name: 'look', response: { error: '{"output":9}' } } },
    ]
    expect(encode(chat(turns), target('gemini-3-pro-preview'))).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Look.' }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true, thoughtSignature: 's1' },
            { functionCall: { id: 'a', ...called }, thoughtSignature: 's2' },
            { functionCall: { id: 'b', ...called } },
          ],
        },
        { role: 'user', parts: [...results, { text: 'Go on.' }] },
      ],
      generationConfig: { maxOutputTokens: 1_000 },
    })
  })

  test('before Gemini 3, images of results follow the results', () => {
    const { contents } = encode(chat(turns))
    expect(Object(contents).at(-1).parts).toEqual([
      { functionResponse: { id: 'a', name: 'look', response: { result: 'dark' } } },
      { functionResponse: { id: 'b', name: 'look', response: { error: '{"output":9}' } } },
      { text: 'Media of the result of look (a):' },
      png,
      { text: 'Go on.' },
    ])
  })

  test('Gemini 3 gets a signature for calls of another model', () => {
    const messages: Message[] = [
      userMessage('Look.'),
      { role: 'assistant', content: [call('a'), call('b')] },
    ]
    const signaturesAt = (model: string) =>
      Object(encode(chat(messages), target(model)).contents)[1].parts.map(
        (part: Json) => part.thoughtSignature,
      )
    const skipped = ['skip_thought_signature_validator', undefined]
    expect(signaturesAt('gemini-flash-latest')).toEqual(skipped)
    expect(signaturesAt('gemini-2.5-pro')).toEqual([undefined, undefined])
  })

  test('a conversation of system messages alone is that of a user', () => {
    const system: Message = { role: 'developer', content: [{ type: 'text', text: 'Go.' }] }
    expect(encode(chat([system])).contents).toEqual([{ role: 'user', parts: [{ text: 'Go.' }] }])
  })

  test('media have their type by content, and addresses by extension', () => {
    const jpeg = { type: 'image', source: { data: '/9j/AAA', mediaType: 'image/png' } } as const
    const at = (type: 'image' | 'video', url: string) => ({ type, source: { url } }) as const
    const content = [
      jpeg,
      at('image', 'https://example.com/a.PNG?size=2'),
      at('image', 'https://example.com/a'),
      at('video', 'https://youtu.be/abc'),
    ]
    expect(Object(encode(chat([{ role: 'user', content }])).contents)[0].parts).toEqual([
      { inlineData: { mimeType: 'image/jpeg', data: '/9j/AAA' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.PNG?size=2' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/abc' } },
    ])
  })

  test('never asks for more output than the hold covers, thoughts included', () => {
    const limits = (request: Partial<ChatRequest>, to: Target) =>
      encode(chat([userMessage('Hi')], request), to).generationConfig
    const budgetOf = (reasoning: ChatRequest['reasoning'], model: string, outputMax = 1_000) =>
      Object(limits(reasoning ? { reasoning } : {}, target(model, { outputMax }))).thinkingConfig
    expect(limits({ outputMax: 5_000 }, target())).toEqual({ maxOutputTokens: 1_000 })
    expect(limits({ outputMax: 50 }, target())).toEqual({ maxOutputTokens: 50 })
    expect(limits({}, target('gemini-2.5-pro', { stopsItself: true }))).toBeUndefined()
    const high = { effort: 'high' }
    expect(budgetOf(high, 'gemini-2.5-flash')).toEqual({
      thinkingBudget: 800,
      includeThoughts: true,
    })
    expect(budgetOf({ effort: 'none' }, 'gemini-2.5-flash')).toEqual({ thinkingBudget: 0 })
    expect(budgetOf({ effort: 'none' }, 'gemini-2.5-pro')).toEqual({ thinkingBudget: 128 })
    expect(budgetOf(high, 'gemini-2.5-flash-lite', 500)).toEqual({ thinkingBudget: 0 })
    expect(budgetOf({ budget: 3_000 }, 'gemini-2.5-flash', 9_000).thinkingBudget).toBe(3_000)
    const levels = ['none', 'minimal', 'low', 'medium', 'high', 'max'].map(
      (effort) => budgetOf({ effort }, 'gemini-3-pro-preview').thinkingLevel,
    )
    expect(levels).toEqual(['low', 'low', 'low', 'medium', 'high', 'high'])
    expect(budgetOf({ effort: 'none' }, 'gemini-3-flash-preview')).toEqual({
      thinkingLevel: 'minimal',
    })
    for (const model of ['gemini-2.5-flash', 'gemini-3-pro-preview']) {
      expect(budgetOf({ summary: 'auto' }, model)).toEqual({ includeThoughts: true })
    }
    expect(budgetOf({ summary: 'auto' }, 'gemini-2.0-flash')).toBeUndefined()
  })

  test('tools and their choice', () => {
    const choose = (more: Partial<ChatRequest>) =>
      encode(chat([userMessage('Hi')], { tools: [look], ...more }))
    const modeOf = (toolChoice: ChatRequest['toolChoice']) =>
      Object(choose(toolChoice ? { toolChoice } : {})).toolConfig.functionCallingConfig
    expect(choose({ tools: [{ name: 'go', parameters: {} }] }).tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'go',
            description: '',
            parametersJsonSchema: { type: 'object', properties: {} },
          },
        ],
      },
    ])
    expect([modeOf(undefined), modeOf('none'), modeOf('required')]).toEqual([
      { mode: 'AUTO' },
      { mode: 'NONE' },
      { mode: 'ANY' },
    ])
    const allowedFunctionNames = ['look']
    const names = ['look', 'gone']
    expect(modeOf({ mode: 'required', names })).toEqual({ mode: 'ANY', allowedFunctionNames })
    expect(modeOf({ mode: 'auto', names })).toEqual({ mode: 'VALIDATED', allowedFunctionNames })
    expect(() => choose({ tools: [{ name: 'patch', isCustom: true }] })).toThrow(ApiError)
  })

  test('a JSON output beside functions is the call of a function before Gemini 3', () => {
    const schema = { type: 'object', properties: { city: { const: 'Cologne' } } }
    const request = { tools: [look], format: { type: 'schema', schema } } as const
    const older = encode(chat([userMessage('Hi')], { ...request, tools: [look] }))
    expect(older.generationConfig).not.toHaveProperty('responseMimeType')
    expect(older.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY' } })
    const [{ functionDeclarations }] = Object(older.tools)
    const modeOf = (toolChoice: ToolChoice) =>
      Object(
        encode(chat([userMessage('Hi')], { ...request, tools: [look], toolChoice })).toolConfig,
      )
    const output = functionDeclarations[1].name
    const allowed: [ToolChoice, string[]][] = [
      ['none', [output]],
      [{ mode: 'auto', names: ['look'] }, ['look', output]],
      [{ mode: 'required', names: ['look'] }, ['look']],
    ]
    for (const [toolChoice, allowedFunctionNames] of allowed) {
      expect(modeOf(toolChoice)).toEqual({
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames },
      })
    }
    const args = { city: 'Cologne' }
    const functionCall = { name: functionDeclarations[1].name, args }
    const response = {
      candidates: [{ content: { parts: [{ functionCall }] }, finishReason: 'STOP' }],
    }
    expect(gather(readWhole(response)).choices).toMatchObject([
      { content: [{ type: 'text', text: '{"city":"Cologne"}' }], reason: 'stop' },
    ])
    const newer = encode(
      chat([userMessage('Hi')], { ...request, tools: [look] }),
      target('gemini-3-pro-preview'),
    )
    expect(newer.generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { city: { enum: ['Cologne'] } } },
    })
  })

  test('settings reach Google, except what it rejects, and ignored ones are named', () => {
    const request = chat([userMessage('Hi')], {
      sampling: { temperature: 0.5, topP: 0.1, topK: 2, seed: 5, presencePenalty: 0.3, minP: 0.2 },
      stop: ['1', '2', '3', '4', '5', '6'],
      logprobs: 3,
      extra: { logit_bias: {}, user: null },
    })
    const shared = { temperature: 0.5, topP: 0.1, topK: 2, seed: 5, maxOutputTokens: 1_000 }
    const more = { stopSequences: ['1', '2', '3', '4', '5'], responseLogprobs: true, logprobs: 3 }
    expect(encode(request).generationConfig).toEqual({ ...shared, ...more })
    const newer = encode(request, target('gemini-3-pro-preview'))
    expect(newer.generationConfig).toEqual({ ...shared, ...more, presencePenalty: 0.3 })
    expect(geminiCodec.ignoredFields(request)).toEqual(['logit_bias', 'min_p'])
    const large = chat([userMessage('Hi')], { sampling: { seed: 2 ** 32 + 7 } })
    expect(encode(large).generationConfig).toMatchObject({ seed: 7 })
  })

  test("a client's own request is unchanged, except for what costs more or is foreign", () => {
    const media = { mime_type: 'video/mp4', mimeType: 'image/png', data: 'AAAA' }
    const foreign = btoa('berth.messages.[]')
    const { request } = decode({
      contents: [
        { parts: [{ inline_data: media, mediaResolution: { level: 'HIGH' } }, { text: '' }] },
        {
          role: 'model',
          parts: [
            { thought: true, text: 'Hm.' },
            { functionCall: { name: 'depth' }, thoughtSignature: foreign },
          ],
        },
      ],
      system_instruction: 'Be brief.',
      tools: [{ codeExecution: false, function_declarations: [{ name: 'depth' }] }],
      toolConfig: { retrievalConfig: {} },
      generationConfig: { candidateCount: 1, max_output_tokens: 99, speechConfig: null },
      serviceTier: 'priority',
    })
    expect(
      geminiCodec.encode(request, target('gemini-2.5-flash', { outputMax: 20, isStream: true })),
    ).toEqual({
      path: '/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      body: {
        contents: [
          { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
          { role: 'model', parts: [{ functionCall: { name: 'depth' } }] },
        ],
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'depth' }] }],
        generationConfig: { candidateCount: 1, maxOutputTokens: 20 },
      },
    })
    expect(geminiCodec.encode(request, target('tunedModels/a')).path).toStartWith('/tunedModels/a:')
  })

  test('a function of a client has a schema with fields, or none', () => {
    const functionDeclarations = [
      { name: 'one', parameters: {} },
      { name: 'two', parametersJsonSchema: {} },
      { name: 'three', parameters: { type: 'OBJECT' } },
    ]
    const { request } = decode({ tools: [{ functionDeclarations }] })
    expect(encode(request).tools).toEqual([
      { functionDeclarations: [{ name: 'one' }, { name: 'two' }, functionDeclarations[2]] },
    ])
  })

  test("a client's own budget of thoughts is lowered with its output limit", () => {
    const sent = (maxOutputTokens: number, thinking_budget: number) => {
      const thinkingConfig = { thinking_budget, includeThoughts: true }
      const contents = [{ parts: [{ text: 'Hi' }] }]
      const { request } = decode({
        contents,
        generationConfig: { maxOutputTokens, thinkingConfig },
      })
      return encode(request, target('gemini-2.5-flash')).generationConfig
    }
    const thoughts = { includeThoughts: true }
    expect(sent(4_000, 3_000)).toEqual({
      maxOutputTokens: 1_000,
      thinkingConfig: { ...thoughts, thinkingBudget: 800 },
    })
    for (const [limit, budget] of [
      [900, 3_000],
      [4_000, -1],
    ] as const) {
      const kept = { ...thoughts, thinking_budget: budget }
      expect(sent(limit, budget)).toMatchObject({ thinkingConfig: kept })
    }
  })

  test('a conversation comes back whole from what Google gets', () => {
    const texts = ['dark', '{"output":9}', '{"result":"x"}', '{ "a": 1 }', '{"$ref":"#"}', '']
    const results = texts.map((text, at): Message => {
      const content = text === '' ? [] : [{ type: 'text' as const, text }]
      return { role: 'tool', callId: `c${at}`, content }
    })
    const failed: Message = {
      role: 'tool',
      callId: 'failed',
      content: [{ type: 'text', text: '{"error":"no"}' }],
      isError: true,
    }
    const ids = [...texts.map((_, at) => `c${at}`), 'failed']
    const messages: Message[] = [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'Hm.', signature: 's', origin: 'gemini' },
          { type: 'text', text: 'I look.' },
          ...ids.map((id) => call(id, { signature: `of ${id}` })),
        ],
      },
      ...results,
      failed,
    ]
    const request = chat(messages, {
      tools: [{ ...look, description: 'Looks.' }],
      toolChoice: 'required',
      sampling: { temperature: 0.5 },
      stop: ['end'],
      outputMax: 500,
    })
    expect(withoutRaw(decode(encode(request, target('gemini-3-pro-preview'))).request)).toEqual(
      request,
    )
  })
})

const part = (one: object, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [one] }, index: 0, ...more }],
  responseId: 'id',
})

const response = {
  candidates: [
    {
      content: {
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 's1' },
          { text: 'Hi' },
          { functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature: 's2' },
          { functionCall: { id: 'own', name: 'look' } },
        ],
      },
      finishReason: 'STOP',
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      },
    },
  ],
  responseId: 'id',
  usageMetadata: {
    promptTokenCount: 11,
    toolUsePromptTokenCount: 3,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 2,
    totalTokenCount: 21,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 6 }],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 1 }],
  },
}

describe('a response of Google', () => {
  test('has its thoughts, calls, pages and usage', () => {
    const events = readWhole(response)
    expect(gather(events)).toEqual({
      id: 'id',
      choices: [
        {
          content: [
            { type: 'thinking', text: 'Hm.', signature: 's1', origin: 'gemini' },
            { type: 'text', text: 'Hi' },
            call(expect.stringMatching(/^call_\w{12}$/), { signature: 's2' }),
            { ...call('own'), arguments: '{}' },
          ],
          citations: [{ url: 'https://a.example', title: 'A' }],
          logprobs: [],
          reason: 'calls',
        },
      ],
    })
    expect(events.slice(-2)).toEqual([
      {
        type: 'usage',
        usage: {
          prompt: 14,
          completion: 7,
          total: 21,
          cached: 4,
          audio: 6,
          audioCached: 1,
          reasoning: 2,
          audioCompletion: undefined,
          isCorrected: false,
        },
      },
      { type: 'done' },
    ])
  })

  test('ends with the reason of Google, and a cut stream without an end', () => {
    const endOf = (response: object) => {
      const reader = new GenerateReader()
      const events = [...(reader.read(JSON.stringify(response)) ?? []), ...reader.end()]
      return events.flatMap((event) =>
        event.type === 'end' ? [event.reason] : event.type === 'done' ? ['done'] : [],
      )
    }
    const reasons = ['STOP', 'MAX_TOKENS', 'MALFORMED_FUNCTION_CALL', 'SAFETY', 'SPII', 'OTHER']
    expect(reasons.map((finishReason) => endOf(part({ text: 'a' }, { finishReason }))[0])).toEqual([
      'stop',
      'length',
      'stop',
      'filtered',
      'filtered',
      'stop',
    ])
    expect(endOf({ promptFeedback: { blockReason: 'SAFETY' } })).toEqual(['filtered', 'done'])
    expect(endOf(part({ text: 'a' }))).toEqual([])
    expect(endOf(part({ text: 'a' }, { finishReason: 'FINISH_REASON_UNSPECIFIED' }))).toEqual([])
  })

  test('an error of a stream is followed by nothing but a usage', () => {
    const reader = new GenerateReader()
    const error = { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' }
    expect(reader.read('{')).toBeUndefined()
    expect(reader.read(JSON.stringify({ error }))).toEqual([
      {
        type: 'error',
        error: { message: 'Overloaded.', type: 'api_error', param: null, code: null, status: 503 },
      },
    ])
    const usageMetadata = { promptTokenCount: 11 }
    const later = reader.read(JSON.stringify({ ...part({ text: 'a' }), usageMetadata })) ?? []
    expect([...later, ...reader.end()].map(({ type }) => type)).toEqual(['usage'])
  })

  test('probabilities belong to their text', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hi', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'Yo', logProbability: -1 }] }],
    }
    const events = readWhole(part({ text: 'Hi' }, { logprobsResult, finishReason: 'STOP' }))
    expect(gather(events).choices[0]?.logprobs).toEqual([
      {
        token: 'Hi',
        logprob: -0.5,
        bytes: [72, 105],
        top_logprobs: [{ token: 'Yo', logprob: -1, bytes: [89, 111] }],
      },
    ])
  })
})

test('several candidates and probabilities are those of a chat', () => {
  const generationConfig = { candidateCount: 2, responseLogprobs: true, logprobs: 3 }
  const { request } = decode({ generationConfig })
  expect(request).toMatchObject({ choices: 2, logprobs: 3 })
  const limited = { ...generationConfig, maxOutputTokens: 1_000 }
  expect(encode(request).generationConfig).toEqual(limited)
  expect(encode(withoutRaw(request)).generationConfig).toEqual(limited)
})

const choice = 0
const claude: ChatEvent[] = [
  { type: 'thinking', choice, text: 'Let me' },
  { type: 'thinking', choice, text: ' see.' },
  { type: 'signature', choice, signature: 'c2ln', origin: 'messages' },
  { type: 'text', choice, text: 'I ' },
  { type: 'text', choice, text: 'look 👋' },
  { type: 'call', choice, call: 0, id: 'functions.f:0', name: 'look' },
  { type: 'call', choice, call: 1, id: 'b', name: 'look' },
  { type: 'arguments', choice, call: 0, text: '{"at"' },
  { type: 'arguments', choice, call: 1, text: '{"at":1}' },
  { type: 'arguments', choice, call: 0, text: ':1}' },
  { type: 'citation', choice, citation: { url: 'https://a.example', title: 'A' } },
  { type: 'end', choice, reason: 'calls' },
]

/** Returns the responses of a stream in which each event is written alone. */
async function streamOf(events: ChatEvent[], showsThoughts = true): Promise<Json[]> {
  const writer = createGeminiClient({ ...options, showsThoughts }).createWriter()
  const bytes = events.map((event) => writer.write([event]))
  const text = Buffer.concat([...bytes, await writer.end(final)]).toString()
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')))
}

describe('a response to a client', () => {
  test('a stream shows texts as they arrive, and calls, reason, pages and usage last', async () => {
    const responses = await streamOf(claude)
    expect(responses.at(-1)).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: '👋' },
              {
                functionCall: { id: 'call64_ZnVuY3Rpb25zLmY6MA', name: 'look', args: { at: 1 } },
                thoughtSignature: btoa(
                  'berth.messages.[{"text":"Let me see.","signature":"c2ln"}]',
                ),
              },
              { functionCall: { id: 'b', name: 'look', args: { at: 1 } } },
            ],
          },
          index: 0,
          finishReason: 'STOP',
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
          },
        },
      ],
      modelVersion: 'asked/for',
      responseId: 'r',
      usageMetadata: {
        promptTokenCount: 11,
        candidatesTokenCount: 7,
        totalTokenCount: 20,
        thoughtsTokenCount: 2,
        cachedContentTokenCount: 4,
        cost: 0.5,
      },
    })
  })

  test.each([
    ['shown', true],
    ['hidden', false],
  ])('thoughts of another API come back when they were %s', async (_, showsThoughts) => {
    const contents = (await streamOf(claude, showsThoughts)).flatMap(({ candidates }) =>
      Object(candidates).map(({ content }: Json) => content),
    )
    const whole = createGeminiClient({ ...options, showsThoughts }).encode(gather(claude), final)
    const wholes: Json[] = Object(whole).candidates.map(({ content }: Json) => content)
    // LiteLLM and pydantic-ai drop a part with nothing but a signature.
    const kept = wholes.map(({ parts, ...content }) => ({
      ...content,
      parts: Object(parts).filter(({ text }: Json) => text !== ''),
    }))
    const turns = [contents, wholes, kept]
    for (const turn of turns) {
      const visible = JSON.stringify(turn)
      expect(visible.includes('Let me')).toBe(showsThoughts)
      const { messages } = decode({ contents: [...hello, ...turn] }).request
      const thought = { text: 'Let me see.', signature: 'c2ln', origin: 'messages' } as const
      const { content } = messages[1] ?? userMessage('')
      expect(content.filter(({ type }) => type === 'thinking')).toEqual([
        { type: 'thinking', ...thought },
      ])
      expect(content.filter(({ type }) => type === 'call')).toEqual([
        call('functions.f:0'),
        call('b'),
      ])
      const text = content.map((one) => (one.type === 'text' ? one.text : '')).join('')
      expect(text).toBe('I look 👋')
    }
  })

  test('candidates of a stream may alternate', async () => {
    const text = (own: number, word: string): ChatEvent => ({
      type: 'text',
      choice: own,
      text: word,
      logprobs: [{ token: word, logprob: -1, bytes: [...Buffer.from(word)], top_logprobs: [] }],
    })
    const end = (own: number): ChatEvent => ({ type: 'end', choice: own, reason: 'stop' })
    const events = [text(0, 'One '), text(1, 'Two '), text(0, 'A'), end(1), text(0, 'B'), end(0)]
    const reader = new GenerateReader()
    const responses = await streamOf(events)
    const read = responses.flatMap((response) => reader.read(JSON.stringify(response)) ?? [])
    expect(gather(read).choices).toEqual(gather(events).choices)
    expect(reader.end()).toEqual([{ type: 'done' }])
  })

  test('a hidden thought that no model signed comes back with the next call', async () => {
    const events: ChatEvent[] = [
      { type: 'thinking', choice, text: 'Hm? >>>' },
      { type: 'text', choice, text: 'I look.' },
      { type: 'call', choice, call: 0, id: 'a', name: 'look' },
      { type: 'end', choice, reason: 'calls' },
    ]
    const responses = await streamOf(events, false)
    const parts = responses.flatMap(({ candidates }) => Object(candidates)[0].content.parts)
    const { thoughtSignature } = parts.at(-1)
    // Google's Python SDK reads base64, and writes it in the alphabet for URLs.
    expect(Buffer.from(thoughtSignature, 'base64').toString('base64')).toBe(thoughtSignature)
    const sent = thoughtSignature.replaceAll('+', '-').replaceAll('/', '_')
    const turn = { role: 'model', parts: [{ ...parts.at(-1), thoughtSignature: sent }] }
    expect(decode({ contents: [...hello, turn] }).request.messages[1]?.content).toEqual([
      { type: 'thinking', text: 'Hm? >>>' },
      { type: 'call', id: 'a', name: 'look', arguments: '{}' },
    ])
  })

  test("Google's own signatures come back with their parts", async () => {
    const events: ChatEvent[] = [
      { type: 'text', choice, text: 'Hi' },
      { type: 'signature', choice, signature: 's1', origin: 'gemini' },
      { type: 'call', choice, call: 0, id: 'a', name: 'look', signature: 's2' },
      { type: 'end', choice, reason: 'calls' },
    ]
    const responses = await streamOf(events)
    const parts = responses.flatMap(({ candidates }) => Object(candidates)[0].content.parts)
    expect(parts).toEqual([
      { text: 'H' },
      { text: 'i', thoughtSignature: 's1' },
      { functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 's2' },
    ])
  })

  test('a whole response has one part for each text', () => {
    const events: ChatEvent[] = [
      { type: 'text', choice, text: 'Hi ' },
      { type: 'refusal', choice, text: 'no' },
      { type: 'end', choice, reason: 'filtered' },
    ]
    expect(createGeminiClient(options).encode(gather(events), { usage: createUsage({}) })).toEqual({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Hi no' }] },
          index: 0,
          finishReason: 'SAFETY',
        },
      ],
      modelVersion: 'asked/for',
      responseId: 'r',
      usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    })
  })

  test("Google's own response has the client's model, and not what it cost the operator", () => {
    const client = createGeminiClient(options)
    const usageMetadata = { promptTokenCount: 1, cost: 3, cost_details: {} }
    const response = { modelVersion: 'gemini-2.5-flash', usageMetadata }
    expect(client.pass(response, final)).toEqual({
      modelVersion: 'asked/for',
      usageMetadata: { promptTokenCount: 1, cost: 0.5 },
    })
    const [own] = new EventReader(1e6).push(encodeEvent(response))
    const passed = own && client.createWriter().pass(own, [])
    expect(Buffer.from(passed?.bytes ?? '').toString()).toBe(
      'data: {"modelVersion":"asked/for","usageMetadata":{"promptTokenCount":1}}\n\n',
    )
  })

  test("Google's own response is passed on with its cost, and its stream unchanged", () => {
    const client = createGeminiClient(options)
    expect(client.pass({ usageMetadata: { promptTokenCount: 1 } }, final)).toEqual({
      usageMetadata: { promptTokenCount: 1, cost: 0.5 },
    })
    const writer = client.createWriter()
    const bytes = Buffer.from('data: {"a":1}\r\n\r\n')
    const own = { bytes, start: 0, end: bytes.byteLength, data: '{"a":1}' }
    expect(writer.pass(own, [])).toBe(own)
    const opened = Buffer.concat([writer.beat(), writer.beat()]).toString()
    expect(opened + Buffer.from(writer.pass(own, [])?.bytes ?? '')).toBe('data:  {"a":1}\n\n')
    expect(writer.end(final)).toHaveLength(0)
  })

  test('an error ends a stream in the envelope of Google, behind all text', () => {
    const writer = createGeminiClient(options).createWriter()
    const bytes = [
      writer.write([{ type: 'text', choice, text: 'Hi' }]),
      writer.beat(),
      writer.fail({ message: 'Cut.', code: 'upstream_stream_error' }, final),
    ]
    const texts = Buffer.concat(bytes).toString().split('\n\n')
    expect(texts).toHaveLength(4)
    expect(texts[1]).toContain('"text":"i"')
    expect(JSON.parse(texts[2]?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code: 502, status: 'UNAVAILABLE', details: [{ reason: 'upstream_stream_error' }] },
    })
  })
})

describe("a chat of Google's SDK", () => {
  const server = Bun.serve({
    port: 0,
    fetch: () => {
      const writer = createGeminiClient(options).createWriter()
      const steps = [
        () => writer.beat(),
        () => writer.beat(),
        () => writer.write([{ type: 'text', choice, text: 'Hel' }]),
        () => writer.beat(),
        () => writer.write([{ type: 'text', choice, text: 'lo' }]),
        () => writer.write([{ type: 'end', choice, reason: 'stop' }]),
        () => writer.end(final),
      ]
      const body = new ReadableStream<Uint8Array>({
        async pull(out) {
          const step = steps.shift()
          if (!step) return out.close()
          out.enqueue(await step())
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  afterAll(() => server.stop(true))

  test('reads a stream with heartbeats, and keeps it in its history', async () => {
    const httpOptions = { baseUrl: `http://127.0.0.1:${server.port}` }
    const chats = new GoogleGenAI({ apiKey: 'k', httpOptions }).chats.create({ model: 'm' })
    const texts: unknown[] = []
    for await (const { text } of await chats.sendMessageStream({ message: 'Hi' })) texts.push(text)
    expect(texts.join('')).toBe('Hello')
    const history = chats
      .getHistory(true)
      .flatMap(({ parts = [] }) => parts.map(({ text }) => text))
    expect(history).toEqual(['Hi', 'He', 'll', 'o'])
  })
})
