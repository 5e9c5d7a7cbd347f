import fc from 'fast-check'

import type {
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  Part,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  UserMessage,
} from '../../gateway/conversation/chat-request.ts'
import type { Can } from './features.ts'

export const word = fc
  .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  .map((text) => `w${text}`)
export const key = fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom(...'abcXY_') })
const toolName = key.map((text) => `f_${text}`)
const object = fc.dictionary(
  key,
  fc.oneof(word, fc.integer({ min: -9, max: 9 }), fc.boolean(), fc.constant(null), fc.array(word)),
  { maxKeys: 3 },
)
export const flag = (can: boolean): fc.Arbitrary<boolean> =>
  can ? fc.boolean() : fc.constant(false)
/** A field that may be missing. */
export function field<K extends string, V>(
  name: K,
  values: fc.Arbitrary<V>,
  can = true,
): fc.Arbitrary<{ [F in K]?: V }> {
  const none = (): { [F in K]?: V } => ({})
  const missing = fc.constant(none())
  if (!can) return missing
  return fc.oneof(
    missing,
    values.map((value) => Object.assign(none(), { [name]: value })),
  )
}

/** Joins the fields of several arbitraries. */
export const joined = <T extends object>(
  ...parts: fc.Arbitrary<Partial<T>>[]
): fc.Arbitrary<Partial<T>> => fc.tuple(...parts).map((all) => Object.assign({}, ...all))

const mark = (can: Can) => field('isCached', fc.constant(true), can('cacheMarks'))

const textPart = (can: Can): fc.Arbitrary<TextPart> =>
  fc.tuple(word, mark(can)).map(([text, more]) => ({ type: 'text', text, ...more }))

const base64 = (start: string) => word.map((text) => start + Buffer.from(text).toString('base64'))
const png = base64('iVBORw0KGgo').map((data) => ({ data, mediaType: 'image/png' }))
const url = key.map((path) => ({ url: `https://example.com/${path}.jpg` }))
const pdf = base64('JVBERi0x').map((data) => ({ data, mediaType: 'application/pdf' }))

function media(can: Can): fc.Arbitrary<MediaPart> {
  const image = fc
    .tuple(
      fc.oneof(png, url),
      field('detail', fc.constantFrom('low', 'high'), can('detail')),
      mark(can),
    )
    .map(([source, ...more]): MediaPart =>
      Object.assign({ type: 'image' as const, source }, ...more),
    )
  const name = field(
    'filename',
    key.map((text) => `${text}.pdf`),
    can('filename'),
  )
  const file = (source: fc.Arbitrary<MediaPart['source']>) =>
    fc
      .tuple(source, name, mark(can))
      .map(([from, ...more]): MediaPart =>
        Object.assign({ type: 'file' as const, source: from }, ...more),
      )
  const other = (type: 'audio' | 'video', mediaType: string) =>
    base64('AAAA').map((data): MediaPart => ({ type, source: { data, mediaType } }))
  const fileUrl = key.map((path) => ({ url: `https://example.com/${path}.pdf` }))
  return fc.oneof(
    image,
    ...(can('pdf') ? [file(pdf)] : []),
    ...(can('fileUrl') ? [file(fileUrl)] : []),
    ...(can('audio') ? [other('audio', 'audio/wav')] : []),
    ...(can('video') ? [other('video', 'video/mp4')] : []),
  )
}

const userMessage = (can: Can): fc.Arbitrary<UserMessage> =>
  fc
    .tuple(textPart(can), fc.array(fc.oneof(textPart(can), media(can)), { maxLength: 3 }))
    .map(([first, more]) => ({ role: 'user', content: [first, ...more] }))

/** The APIs that sign thoughts. Those of OpenAI are encrypted, with a summary. */
export const signers = [
  ['signedByAnthropic', 'messages'],
  ['signedByGoogle', 'gemini'],
  ['signedByOpenAi', 'responses'],
] as const

export function thoughts(can: Can): fc.Arbitrary<ThinkingPart[]> {
  const signature = word.map((text) => Buffer.from(text).toString('base64'))
  const signed = signers
    .filter(([feature]) => can(feature))
    .map(([, origin]) =>
      fc.tuple(word, signature).map(([text, seal]): ThinkingPart[] => [
        {
          type: 'thinking',
          text,
          signature: seal,
          origin,
          ...(origin === 'responses' && { isEncrypted: true }),
        },
      ]),
    )
  const unsigned = word.map((text): ThinkingPart[] => [{ type: 'thinking', text }])
  return fc.oneof(
    fc.constant<ThinkingPart[]>([]),
    ...(can('unsigned') ? [unsigned] : []),
    ...signed,
  )
}

interface Call extends Omit<CallPart, 'id'> {
  id?: string
}

export function callPart(can: Can): fc.Arbitrary<Call> {
  const written = object.map((value) => ({ arguments: JSON.stringify(value) }))
  const text = word.map((input) => ({ arguments: input, isCustom: true }))
  return fc
    .tuple(
      toolName,
      can('custom') ? fc.oneof(written, text) : written,
      field('signature', key, can('callSignature')),
      mark(can),
    )
    .map(([name, args, ...more]) =>
      Object.assign({ type: 'call' as const, name, ...args }, ...more),
    )
}

/** Texts of results. An API may have a form of its own for JSON. */
const resultText = fc.oneof(
  word,
  object.map((value) => JSON.stringify(value)),
  fc.constantFrom('{"result":"x"}', '{"error":"x"}', '{"a": 1}', '[1]', '{"$ref":"#"}', 'null'),
)

const resultMedia = (can: Can): fc.Arbitrary<MediaPart> =>
  can('resultUrl')
    ? media((feature) => feature === 'detail' && can('detail'))
    : png.map((source) => ({ type: 'image', source }))

const result = (can: Can) =>
  fc.tuple(
    resultText,
    fc.array(resultMedia(can), {
      maxLength: can('resultMedia') ? 2 : 0,
    }),
    flag(can('failedResult')),
  )

/** A turn of the model, with the results of its calls. */
function turn(can: Can): fc.Arbitrary<Message[]> {
  const spoken = fc.array(textPart(can), { maxLength: 1 })
  const declined = word.map((text): TextPart[] => [{ type: 'text', text, isDeclined: true }])
  const texts = can('declined') ? fc.oneof(spoken, declined) : spoken
  const called = fc.array(fc.tuple(callPart(can), result(can)), { maxLength: 3 })
  return fc.tuple(thoughts(can), texts, called, word).map(([thinking, words, calls, fallback]) => {
    const isEmpty = words.length === 0 && calls.length === 0
    const text: TextPart[] = isEmpty ? [{ type: 'text', text: fallback }] : words
    const made = calls.map(([call]): CallPart => ({ id: '', ...call }))
    const content: Part[] = [...thinking, ...text, ...made]
    return [
      { role: 'assistant', content },
      ...calls.map(([, [output, attached, isError]]): Message => ({
        role: 'tool',
        callId: '',
        content: [{ type: 'text', text: output }, ...attached],
        ...(isError && { isError }),
      })),
    ]
  })
}

/** Names the calls. Ids of some upstreams have characters that others refuse. */
function withIds(messages: Message[], seeds: readonly string[]): Message[] {
  let calls = 0
  let results = 0
  const idOf = (at: number): string => `${seeds[at % seeds.length]}${at}`
  return messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, callId: idOf(results++) }
    if (message.role !== 'assistant') return message
    const content = message.content.map((part) =>
      part.type === 'call' ? { ...part, id: idOf(calls++) } : part,
    )
    return { ...message, content }
  })
}

const idSeeds = (can: Can) =>
  fc.constantFrom(
    ['call_'],
    ['toolu_', 'a:b/é|'],
    ['functions.f:'],
    ...(can('longIds') ? [['x'.repeat(60)]] : []),
  )

function conversation(can: Can): fc.Arbitrary<Message[]> {
  const system = fc.tuple(
    fc.constantFrom('system' as const, 'developer' as const),
    fc.array(textPart(can), { minLength: 1, maxLength: 2 }),
  )
  const systems = system.map(([role, content]): Message[] => [{ role, content }])
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(userMessage(can), turn(can))
        .map(([user, more]): Message[] => [user, ...more]),
    },
    ...(can('laterSystem') ? [{ weight: 1, arbitrary: systems }] : []),
  )
  return fc
    .tuple(
      fc.oneof(fc.constant([]), systems),
      fc.array(step, { maxLength: 3 }),
      userMessage(can),
      idSeeds(can),
    )
    .map(([first, steps, last, seeds]) => withIds([...first, ...steps.flat(), last], seeds))
}

const schema = key.map((name) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
}))

/** The format of a custom tool is no schema, and none is strict. */
const customTool = (name: string, { isStrict: _, ...tool }: Partial<Tool>): Tool => ({
  name,
  ...tool,
  parameters: { type: 'text' },
})

const toolsOf = (can: Can): fc.Arbitrary<Tool[]> =>
  fc
    .uniqueArray(toolName, { minLength: 1, maxLength: 3 })
    .chain((list) =>
      fc.tuple(
        ...list.map((name) =>
          joined<Tool>(
            fc.constant({ name }),
            field('description', word),
            field('parameters', schema),
            field('isStrict', fc.constant(true), can('strict')),
            field('isCustom', fc.constant(true), can('customTool')),
            mark(can),
          ).map((tool) => (tool.isCustom ? customTool(name, tool) : { name, ...tool })),
        ),
      ),
    )

/** The tools, the choice among them, and whether the calls are serial. */
const toolFields = (can: Can): fc.Arbitrary<Partial<ChatRequest>> =>
  toolsOf(can).chain((tools) => {
    const all = tools.map(({ name }) => name)
    const choices: ToolChoice[] = [
      'auto',
      'required',
      ...(can('choiceOfNames') ? [{ mode: 'required' as const, names: all.slice(0, 1) }] : []),
      ...(can('allowedTools') ? [{ mode: 'auto' as const, names: all }] : []),
    ]
    return joined<ChatRequest>(
      fc.constant({ tools }),
      fc.oneof(
        fc.constant({ toolChoice: 'none' as const }),
        joined<ChatRequest>(
          field('toolChoice', fc.constantFrom(...choices)),
          field('isSerial', fc.constant(true), can('serial')),
        ),
      ),
    )
  })

const part = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10)

/** Cohere takes a `p` below 1. */
const inner = fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10)

/** Claude takes one of temperature and top_p. */
const sampling = (can: Can) =>
  joined<ChatRequest['sampling']>(
    fc.oneof(field('temperature', part), field('topP', inner)),
    field('topK', fc.integer({ min: 1, max: 40 }), can('topK')),
    field('minP', part, can('minP')),
    field('seed', fc.integer({ min: 0, max: 99 }), can('seed')),
    field('presencePenalty', part, can('penalties')),
    field('frequencyPenalty', part, can('penalties')),
  )

function format(can: Can): fc.Arbitrary<Partial<ChatRequest>> {
  const details = joined<{ name: string; description: string; isStrict: boolean }>(
    fc.constant({ name: 'output' }),
    field('description', word, can('formatDetails')),
    field('isStrict', fc.boolean(), can('formatDetails')),
    field('name', key, can('formatDetails')),
  )
  const ofSchema = fc
    .tuple(schema, details)
    .map(([one, more]) => ({ type: 'schema' as const, schema: one, ...more }))
  return field(
    'format',
    can('objectFormat') ? fc.oneof(fc.constant({ type: 'object' as const }), ofSchema) : ofSchema,
  )
}

/** Models refuse sampling or a forced call beside thinking, and a forced call beside a format. */
export function requestWith(can: Can): fc.Arbitrary<ChatRequest> {
  const reasoning = field(
    'reasoning',
    fc.constantFrom('minimal', 'low', 'medium', 'high').map((effort) => ({ effort })),
    can('effort'),
  )
  const options = fc.oneof(
    reasoning,
    format(can),
    toolFields(can),
    sampling(can).map((values) => ({ sampling: values })),
  )
  return fc
    .tuple(
      conversation(can),
      joined<ChatRequest>(
        options,
        field('stop', fc.array(word, { minLength: 1, maxLength: 4 }), can('stop')),
        field('outputMax', fc.integer({ min: 1, max: 8_000 })),
        field('choices', fc.constant(2), can('choices')),
        field('logprobs', fc.integer({ min: 0, max: 5 }), can('logprobs')),
        field('isCached', fc.constant(true), can('wholeCache')),
      ),
    )
    .map(([messages, more]) =>
      withFewMarks({
        tools: [],
        choices: 1,
        sampling: {},
        stop: [],
        extra: {},
        ...more,
        messages,
      }),
    )
}

/** Anthropic takes four cache marks. */
function withFewMarks(request: ChatRequest): ChatRequest {
  let left = 3
  const unmark = <T extends object>(value: T) => {
    if ('isCached' in value && value.isCached === true) left -= 1
    return left < 0 ? { ...value, isCached: undefined } : value
  }
  return {
    ...request,
    tools: request.tools.map(unmark),
    messages: request.messages.map((message) =>
      Object.assign({}, message, { content: message.content.map((one: Part) => unmark(one)) }),
    ),
  }
}
