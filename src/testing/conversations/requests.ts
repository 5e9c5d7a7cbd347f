/** One file, because a request is generated from its parts, which share their small values. */
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
const value = fc.oneof(
  word,
  fc.constant(''),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -9, max: 9 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(word),
)
const object = fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value, { maxKeys: 2 })), {
  maxKeys: 3,
})
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
    .array(fc.oneof(textPart(can), media(can)), { minLength: 1, maxLength: 4 })
    .map((content) => ({ role: 'user', content }))

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
    .map(([, origin]) => {
      const one = fc
        .tuple(word, signature, fc.boolean())
        .map(([text, seal, isHidden]): ThinkingPart => ({
          type: 'thinking',
          text: isHidden && origin !== 'gemini' ? '' : text,
          signature: seal,
          origin,
          ...((isHidden ? origin !== 'gemini' : origin === 'responses') && { isEncrypted: true }),
        }))
      return fc.array(one, { minLength: 1, maxLength: 2 })
    })
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

/** A result has texts and media. A failed one needs a text. */
const result = (can: Can) =>
  flag(can('failedResult')).chain((isError) =>
    fc.tuple(
      fc.array(resultText, { minLength: isError ? 1 : 0, maxLength: 1 }),
      fc.array(resultMedia(can), { maxLength: can('resultMedia') ? 2 : 0 }),
      fc.constant(isError),
    ),
  )

/** A turn of the model, with the results of its calls. */
function turn(can: Can): fc.Arbitrary<Message[]> {
  const spoken = fc.array(textPart(can), { maxLength: 1 })
  const declined = word.map((text): TextPart[] => [{ type: 'text', text, isDeclined: true }])
  const texts = can('declined') ? fc.oneof(spoken, declined) : spoken
  const called = fc.array(fc.tuple(callPart(can), result(can)), { maxLength: 3 })
  const step = fc.tuple(thoughts(can), texts, called, word)
  const steps = fc.array(step, { minLength: 1, maxLength: can('order') ? 3 : 1 })
  return steps.map((all) => {
    const content = all.flatMap(([thinking, words, calls, fallback], at): Part[] => {
      const isEmpty = words.length === 0 && calls.length === 0
      const text: TextPart[] = isEmpty ? [{ type: 'text', text: fallback }] : words
      const made = calls.map(([call]): CallPart => ({ id: '', ...call }))
      // Without a thought before it, a text moves before the calls.
      const isNext = at === 0 || thinking.length > 0
      return isNext ? [...thinking, ...text, ...made] : made
    })
    const results = all.flatMap(([, , calls]) =>
      calls.map(([, [output, attached, isError]]): Message => ({
        role: 'tool',
        callId: '',
        content: [...output.map((text) => ({ type: 'text' as const, text })), ...attached],
        ...(isError && { isError }),
      })),
    )
    return [{ role: 'assistant', content }, ...results]
  })
}

/**
 * Names the calls, whose results are in their order or in reverse. Ids of some upstreams have
 * characters that others refuse.
 */
function withIds(messages: Message[], seeds: readonly string[], isReversed: boolean): Message[] {
  let calls = 0
  let open: string[] = []
  const idOf = (at: number): string => `${seeds[at % seeds.length]}${at}`
  return messages.map((message): Message => {
    if (message.role === 'tool') {
      const callId = (isReversed ? open.pop() : open.shift()) ?? ''
      return { ...message, callId }
    }
    open = []
    if (message.role !== 'assistant') return message
    const content = message.content.map((part) => {
      if (part.type !== 'call') return part
      const id = idOf(calls++)
      open.push(id)
      return { ...part, id }
    })
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
  const turns = fc.array(turn(can), { minLength: 1, maxLength: 3 })
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(userMessage(can), turns)
        .map(([user, more]): Message[] => [user, ...more.flat()]),
    },
    { weight: 1, arbitrary: userMessage(can).map((user) => [user]) },
    ...(can('laterSystem') ? [{ weight: 1, arbitrary: systems }] : []),
  )
  return fc
    .tuple(
      fc.oneof(fc.constant([]), systems),
      fc.array(step, { maxLength: 3 }),
      userMessage(can),
      fc.oneof(
        fc.constant([]),
        turns.map((all) => all.flat()),
      ),
      idSeeds(can),
      fc.boolean(),
    )
    .map(([first, steps, user, last, seeds, isReversed]) =>
      withIds([...first, ...steps.flat(), user, ...last], seeds, isReversed),
    )
}

const schema = key.map((name) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
}))

/** Schemas of arguments, with all that JSON Schema has. */
const parameters = fc.oneof(
  schema,
  fc.tuple(schema, word, fc.integer()).map(([inner, description, number]) => ({
    type: 'object',
    description,
    properties: {
      place: { $ref: '#/$defs/place' },
      list: { type: 'array', items: inner, minItems: 1 },
      choice: { anyOf: [{ type: 'null' }, { enum: ['a', number, null] }, { const: description }] },
      either: { type: ['string', 'null'], default: description, format: 'date-time' },
    },
    $defs: { place: inner },
    patternProperties: { '^x-': { type: 'number', minimum: number } },
    additionalProperties: inner,
  })),
)

/** The format of a custom tool is no schema, and none is strict. */
const customTool = (name: string, { isStrict: _, ...tool }: Partial<Tool>): Tool => ({
  name,
  ...tool,
  parameters: { type: 'text' },
})

const toolsOf = (can: Can): fc.Arbitrary<Tool[]> =>
  fc
    .uniqueArray(toolName, { maxLength: 3 })
    .chain((list) =>
      fc.tuple(
        ...list.map((name) =>
          joined<Tool>(
            fc.constant({ name }),
            field('description', word),
            field('parameters', parameters),
            field('isStrict', fc.constant(true), can('strict')),
            field('isCustom', fc.constant(true), can('customTool')),
            mark(can),
          ).map((tool) => (tool.isCustom ? customTool(name, tool) : { name, ...tool })),
        ),
      ),
    )

/** The tools, the choice among them, and whether the calls are serial. */
const toolFields = (can: Can, hasNames: boolean): fc.Arbitrary<Partial<ChatRequest>> =>
  toolsOf(can).chain((tools) => {
    if (tools.length === 0) return fc.constant({})
    const all = tools.map(({ name }) => name)
    const named: ToolChoice[] = [
      'required',
      ...(can('allowedTools') ? [{ mode: 'auto' as const, names: all }] : []),
      ...(can('choiceOfNames') ? [{ mode: 'required' as const, names: all.slice(0, 1) }] : []),
      ...(can('allowedTools') && all.length > 1 ? [{ mode: 'required' as const, names: all }] : []),
    ]
    const choices: ToolChoice[] = ['auto', ...(hasNames ? named : [])]
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

const within = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((x) => x + 0)

/** Numbers in the limits of an API: where they are narrower, the codec sends the nearest. */
function sampling(can: Can) {
  const temperature = field('temperature', within(0, can('hot') ? 2 : 1))
  const topP = field('topP', can('wholeTopP') ? within(0, 1) : within(0.01, 0.99))
  const penalty = can('negativePenalties') ? within(-2, 2) : within(0, 1)
  return joined<ChatRequest['sampling']>(
    can('temperatureWithTopP')
      ? joined<ChatRequest['sampling']>(temperature, topP)
      : fc.oneof(temperature, topP),
    field('topK', fc.integer({ min: 1, max: 500 }), can('topK')),
    field('minP', within(0, 1), can('minP')),
    field('seed', fc.integer({ min: 0, max: 2 ** 31 - 1 }), can('seed')),
    field('presencePenalty', penalty, can('penalties')),
    field('frequencyPenalty', penalty, can('penalties')),
  )
}

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
    fc
      .constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
      .map((effort) => ({ effort })),
    can('effort'),
  )
  const numbers = sampling(can).map((values) => ({ sampling: values }))
  const options = fc.oneof(
    joined<ChatRequest>(reasoning, format(can), toolFields(can, false)),
    joined<ChatRequest>(numbers, format(can), toolFields(can, false)),
    joined<ChatRequest>(numbers, toolFields(can, true)),
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
