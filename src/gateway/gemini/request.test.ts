import { expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import { toNativeGeneration } from './native.ts'
import { parseGenerateRequest } from './request.ts'

const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const parse = (body: object) => parseGenerateRequest({ contents, ...body }, 'a/b', false)
const chatOf = (body: object) => parse(body).chat
const png = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }

test('contents become messages; results follow their calls, and their media become a user message', () => {
  const call = (id?: string) => ({ functionCall: { id, name: 'depth', args: { place: 'cape' } } })
  const response = { functionResponse: { name: 'depth', response: { output: 9 }, parts: [png] } }
  const { messages } = chatOf({
    system_instruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { parts: [{ text: 'Look.' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'I look.' },
          { ...call(), thoughtSignature: 'signed' },
          call('own'),
        ],
      },
      { role: 'user', parts: [{ functionResponse: { id: 'own', response: {} } }, response] },
    ],
  })
  const called = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'depth', arguments: '{"place":"cape"}' },
  })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { ...called('call_0'), extra_content: { google: { thought_signature: 'signed' } } },
        called('own'),
      ],
    },
    { role: 'tool', tool_call_id: 'own', content: '{}' },
    { role: 'tool', tool_call_id: 'call_0', content: '{"output":9}' },
    { role: 'user', content: [image] },
  ])
})

test('options, tools and schemas become chat fields', () => {
  const declaration = {
    name: 'depth',
    parameters: {
      type: 'OBJECT',
      properties: {
        places: { type: 'ARRAY', items: { type: 'STRING', nullable: true }, minItems: '1' },
      },
    },
  }
  const other = { name: 'other', parametersJsonSchema: { type: 'object' } }
  const config = { mode: 'ANY', allowedFunctionNames: ['depth'] }
  expect(
    chatOf({
      tools: [{ functionDeclarations: [declaration, other] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: config },
      safetySettings: [{ category: 'A', threshold: 'B' }],
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 77,
        stopSequences: ['end'],
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object' },
        thinkingConfig: { thinkingLevel: 'LOW' },
      },
    }),
  ).toEqual({
    model: 'a/b',
    messages: [{ role: 'user', content: 'Hello' }],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    max_tokens: 77,
    stop: ['end'],
    tools: [
      {
        type: 'function',
        function: {
          name: 'depth',
          parameters: {
            type: 'object',
            properties: {
              places: { type: 'array', items: { type: ['string', 'null'] }, minItems: 1 },
            },
          },
        },
      },
    ],
    tool_choice: 'required',
    web_search: true,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'output', schema: { type: 'object' } },
    },
    reasoning_effort: 'low',
  })
})

test('only Gemini 3 and later get a signature for the calls of another model', () => {
  const call = { functionCall: { name: 'depth', args: {} } }
  const turn = (parts: object[]) => ({ role: 'model', parts })
  const text = { text: 'I look.' }
  const unsigned = turn([text, call, call])
  const signed = turn([{ ...call, thoughtSignature: 'own' }, call])
  const { request } = toNativeGeneration({ contents: [...contents, unsigned, signed] }, false)
  const built = (model: string) => request.build(model, undefined).body.contents
  expect(built('gemini-2.5-pro')).toEqual([...contents, unsigned, signed])
  const thoughtSignature = 'skip_thought_signature_validator'
  const skipped = turn([text, { ...call, thoughtSignature }, call])
  for (const model of ['gemini-3-pro-preview', 'gemini-flash-latest']) {
    expect(built(model)).toEqual([...contents, skipped, signed])
  }
})

test('fields without an effect are named in the response', () => {
  const part = { text: 'Hello', mediaResolution: { level: 'HIGH' }, video_metadata: { fps: 9 } }
  const body = { contents: [{ parts: [part] }], service_tier: 'flex', store: false, labels: null }
  expect(parse(body).ignored).toEqual([
    'serviceTier',
    'store',
    'contents.mediaResolution',
    'contents.videoMetadata',
  ])
})

test('a thinking budget sets the effort', () => {
  const effortOf = (thinkingConfig: object) =>
    chatOf({ generationConfig: { thinkingConfig } }).reasoning_effort
  expect(
    [0, 1_000, 8_192, 30_000, -1].map((thinkingBudget) => effortOf({ thinkingBudget })),
  ).toEqual(['none', 'low', 'medium', 'high', undefined])
  expect(effortOf({ thinkingLevel: 'HIGH' })).toBeUndefined()
})

test('a native request has the fields of the chat under one spelling', () => {
  const media = { mime_type: 'video/mp4', mimeType: 'image/png', data: 'AAAA' }
  const { request } = toNativeGeneration(
    {
      contents: [
        { parts: [{ inline_data: media, mediaResolution: { level: 'HIGH' } }, { text: '' }] },
        { role: 'model', parts: [{ thought: true, text: 'Hm.' }, { inlineData: media }] },
      ],
      system_instruction: 'Be brief.',
      tools: [{ codeExecution: false, function_declarations: [{ name: 'depth' }] }],
      toolConfig: { retrievalConfig: {} },
      generation_config: { candidate_count: 8 },
      generationConfig: { candidateCount: 1, max_output_tokens: 99, speechConfig: null },
      cachedContent: false,
    },
    true,
  )
  expect(request.build('gemini-2.5-flash', 20)).toEqual({
    path: '/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    body: {
      contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'depth' }] }],
      generationConfig: { candidateCount: 1, maxOutputTokens: 20 },
    },
  })
  expect(request.build('tunedModels/a', undefined).path).toStartWith('/tunedModels/a:')
})

const config = (generationConfig: object) => ({ generationConfig })
const turn = (part: object, role = 'user') => ({ contents: [{ role, parts: [part] }] })

const rejected: [body: object, param: string][] = [
  [{ contents: [7] }, 'contents'],
  [{ contents: [{ parts: 7 }] }, 'contents'],
  [turn({ text: 'x' }, 'system'), 'contents'],
  [turn({ executableCode: {} }), 'contents'],
  [turn({ inlineData: { mimeType: 'image/png' } }), 'contents'],
  [turn({ fileData: { fileUri: 'https://files.example/a.pdf' } }), 'contents'],
  [turn({ functionResponse: { name: 'depth' } }), 'contents'],
  [turn({ functionCall: {} }, 'model'), 'contents'],
  [{ cachedContent: 'caches/1' }, 'cachedContent'],
  [{ tools: 7 }, 'tools'],
  ...['codeExecution', 'urlContext', 'googleMaps', 'fileSearch', 'computerUse', 'mcpServers'].map(
    (name): [object, string] => [{ tools: [{ [name]: {} }] }, `tools.${name}`],
  ),
  [{ tools: [{ functionDeclarations: [{}] }] }, 'tools'],
  [config({ candidateCount: 2 }), 'generationConfig.candidateCount'],
  [config({ responseModalities: ['IMAGE'] }), 'generationConfig.responseModalities'],
  [config({ responseMimeType: 'text/x.enum' }), 'generationConfig.responseMimeType'],
  [config({ speechConfig: {} }), 'generationConfig.speechConfig'],
  [config({ maxOutputTokens: 0 }), 'generationConfig.maxOutputTokens'],
]

test.each(rejected)('%j is rejected, naming %s', (body, param) => {
  const failed = () => parse(body)
  expect(failed).toThrow(ApiError)
  try {
    failed()
  } catch (error) {
    expect(Object(error).details[0].param).toBe(param)
  }
})

test('a request without contents is rejected with the name of the field', () => {
  for (const none of [undefined, []]) {
    expect(() => parse({ contents: none })).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ param: 'contents' })] }),
    )
  }
})
