import { describe, expect, test } from 'bun:test'

import fc from 'fast-check'

import type { Json } from '../../kernel/schema.ts'
import {
  allNames,
  type ApiName,
  apiNames,
  apis,
  through,
} from '../../testing/conversations/apis.ts'
import { comparable, wordsIn } from '../../testing/conversations/comparable.ts'
import { type Can, type Feature, features } from '../../testing/conversations/features.ts'
import {
  callPart,
  field,
  flag,
  joined,
  key,
  requestWith,
  signers,
  thoughts,
  word,
} from '../../testing/conversations/requests.ts'
import { isThorough, testSeed } from '../../testing/thorough.ts'
import { EventReader } from '../events.ts'
import { createUsage } from '../models/usage.ts'
import {
  type ChatEvent,
  type Choice,
  type Citation,
  eventsOf,
  gather,
  type OutputPart,
} from './chat-event.ts'
import type { ChatRequest, MediaPart, Part, Tool } from './chat-request.ts'
import { mediaIn } from './contents.ts'

/**
 * The features that the request of an API has no field for. Each is told in words, changed to
 * something near, or left out: the tests of each codec say how.
 */
const lacks: Record<ApiName, ReadonlySet<Feature>> = {
  // A tool message has text only. Thoughts of others than Anthropic have no field.
  chat: features(`allowedTools failedResult order resultMedia signedByGoogle signedByOpenAi`),
  openrouter: features(`allowedTools failedResult order resultMedia`),
  mistral: features(`
    allowedTools cacheMarks callSignature custom failedResult longIds order resultMedia
    signedByAnthropic signedByGoogle signedByOpenAi video wholeCache
  `),
  // Its thoughts are encrypted. This gateway takes no files by address from its clients, and a
  // custom tool of them is a function with one string.
  responses: features(`
    cacheMarks callSignature choices custom customTool failedResult fileUrl longIds minP penalties
    seed signedByAnthropic signedByGoogle stop topK unsigned video wholeCache
  `),
  // A thinking budget replaces an effort.
  messages: features(`
    allowedTools audio callSignature choices custom customTool declined detail effort
    formatDetails hot laterSystem logprobs minP objectFormat penalties seed signedByGoogle
    signedByOpenAi temperatureWithTopP unsigned video
  `),
  gemini: features(`
    cacheMarks custom customTool declined detail effort filename fileUrl formatDetails
    laterSystem minP resultUrl serial signedByAnthropic signedByOpenAi strict unsigned wholeCache
  `),
  // Its files are texts, and it has no choice among tools.
  cohere: features(`
    allowedTools audio cacheMarks callSignature choiceOfNames choices custom customTool
    declined effort failedResult fileUrl filename formatDetails laterSystem logprobs minP
    negativePenalties order pdf resultMedia resultUrl serial signedByAnthropic signedByGoogle
    signedByOpenAi strict video wholeCache wholeTopP
  `),
}

/** The features that an API rejects: the client must know that the model does not get them. */
const rejected = ['audio', 'choices', 'customTool', 'fileUrl', 'logprobs', 'pdf', 'video'] as const

/** The features that the response of an API has no field for, of those that its upstreams have. */
const lacksInResponse: Record<ApiName, ReadonlySet<Feature>> = {
  chat: new Set(),
  openrouter: new Set(),
  mistral: features('callSignature'),
  responses: features('callSignature choices citedText custom'),
  messages: features('callSignature choices citedRange custom declined logprobs'),
  gemini: features('citedRange citedText custom declined'),
  cohere: features('callSignature choices custom declined filtered'),
}

const pairs = apiNames.flatMap((first) => apiNames.map((second) => [first, second] as const))
const toMistral = apiNames.map((first) => [first, 'mistral'] as const)
const numRuns = isThorough ? 2_000 : 40
const settings = { numRuns, seed: testSeed }

describe(`every pair of APIs (seed ${testSeed})`, () => {
  test.each(pairs)('%s and %s keep all that both can say', (first, second) => {
    const can: Can = (feature) => !lacks[first].has(feature) && !lacks[second].has(feature)
    fc.assert(
      fc.property(requestWith(can), (request) => {
        const sent = through(first, request)
        const there = through(second, sent)
        const back = through(first, there)
        const expected = comparable(request, can)
        expect(comparable(sent, can)).toEqual(expected)
        expect(comparable(there, can)).toEqual(expected)
        expect(comparable(back, can)).toEqual(expected)
      }),
      settings,
    )
  })

  test.each([...pairs, ...toMistral])(
    'what only %s can say reaches %s in words',
    (first, second) => {
      const both: Can = (feature) => !lacks[first].has(feature) && !lacks[second].has(feature)
      const can: Can = (feature) =>
        !lacks[first].has(feature) &&
        !(rejected.some((one) => one === feature) && lacks[second].has(feature))
      fc.assert(
        fc.property(requestWith(can), (request) => {
          const sent = through(first, request)
          const there = through(second, sent)
          const all = wordsIn(there.messages, both).join('\n').replace(/\s+/g, '')
          for (const words of wordsIn(sent.messages, both)) {
            expect(all).toContain(words.replace(/\s+/g, ''))
          }
          const shown = (one: MediaPart) => JSON.stringify(one.source)
          expect(mediaIn(there.messages).map(shown).toSorted()).toEqual(
            mediaIn(sent.messages).map(shown).toSorted(),
          )
          expect(there.tools.map(({ name }) => name)).toEqual(
            offered(sent, both).map(({ name }) => name),
          )
        }),
        settings,
      )
    },
  )
})

/** The tools that a model may call. An API without such a choice gets no others. */
function offered({ tools, toolChoice }: ChatRequest, by: Can): Tool[] {
  if (typeof toolChoice !== 'object' || by('choiceOfNames')) return tools
  return tools.filter(({ name }) => toolChoice.names.includes(name))
}

const usage = createUsage({ prompt: 9, completion: 7, reasoning: 2 })

const citation = (can: Can): fc.Arbitrary<Citation> =>
  joined<Citation>(
    key.map((path) => ({ url: `https://example.com/${path}`, title: path })),
    field('content', word, can('citedText')),
    can('citedRange')
      ? fc.oneof(fc.constant({}), fc.constant({ start: 0, end: 1 }))
      : fc.constant({}),
  ).map((one) => ({ url: '', title: '', ...one }))

/** The origins of thoughts that the upstreams of an API sign. */
const signersOf: Partial<Record<ApiName, string[]>> = {
  chat: ['messages', 'responses'],
  openrouter: ['messages', 'gemini', 'responses'],
  messages: ['messages'],
  gemini: ['gemini'],
  responses: ['responses'],
}

const logprob = { token: 'w', logprob: -0.5, bytes: [119], top_logprobs: [] }

const endReasons = ['stop', 'length', 'filtered'] as const

function choice(name: ApiName, can: Can): fc.Arbitrary<Choice> {
  const origins = signersOf[name] ?? []
  const thought = thoughts(
    (feature) =>
      feature === 'unsigned' ||
      signers.some(([one, signer]) => one === feature && origins.includes(signer)),
  )
  const text = fc.array(word, { maxLength: 1 })
  const inCall: Can = (feature) => ['callSignature', 'custom'].includes(feature) && can(feature)
  const calls = fc.array(callPart(inCall), { maxLength: 3 })
  return fc
    .tuple(
      thought,
      text,
      calls,
      fc.uniqueArray(citation(can), { maxLength: 2, selector: ({ url: address }) => address }),
      fc.constantFrom(...endReasons.filter((reason) => reason !== 'filtered' || can(reason))),
      flag(can('declined')),
      flag(can('logprobs')),
    )
    .map(([thinking, words, called, citations, reason, isDeclined, hasLogprobs]): Choice => {
      const isSpoken = words.length > 0 || called.length === 0
      const spoken = isSpoken ? [{ text: words[0] ?? 'w' }] : []
      return {
        content: [
          ...thinking,
          ...spoken.map(({ text: own }) => ({
            type: isDeclined ? ('refusal' as const) : ('text' as const),
            text: own,
          })),
          ...called.map((call, at) => ({ ...call, id: `call_${at}` })),
        ],
        citations: isSpoken && !isDeclined ? citations : [],
        logprobs: isSpoken && !isDeclined && hasLogprobs ? [logprob] : [],
        reason: called.length > 0 && reason === 'stop' ? 'calls' : reason,
      }
    })
}

/** Cuts texts into the pieces of a stream. */
const pieces = (events: ChatEvent[]): ChatEvent[] =>
  events.flatMap((event): ChatEvent[] => {
    if (!('text' in event) || event.text.length < 2 || 'logprobs' in event) return [event]
    const at = event.text.length >> 1
    const isPair = /[\uD800-\uDBFF]/.test(event.text[at - 1] ?? '')
    if (isPair) return [event]
    return [event.text.slice(0, at), event.text.slice(at)].map((text) => ({ ...event, text }))
  })

/** Removes the range of a citation of the whole text: OpenAI requires one. */
function withoutWholeRange({ start, end, ...citation }: Citation, content: OutputPart[]): Citation {
  const text = content.find(({ type }) => type === 'text')
  const length = text && 'text' in text ? text.text.length : 0
  if (start === undefined || (start === 0 && end === length)) return citation
  return { ...citation, start, ...(end !== undefined && { end }) }
}

/** Returns the same form of choices that mean the same. */
const shown = (choices: Choice[]) =>
  choices.map(({ content, citations, ...others }) => ({
    ...others,
    citations: citations.map((one) => withoutWholeRange(one, content)),
    content: content.map((one) => {
      if (one.type !== 'thinking') return one
      const { id: _, ...thought } = one
      return thought
    }),
  }))

describe('every API', () => {
  test.each(allNames)('%s reads the responses that it writes, whole and streamed', async (name) => {
    const { upstream, client } = apis[name]
    const can: Can = (feature) => !lacksInResponse[name].has(feature)
    const choices = fc.array(choice(name, can), { minLength: 1, maxLength: can('choices') ? 2 : 1 })
    await fc.assert(
      fc.asyncProperty(choices, async (all) => {
        const response = { id: 'r', choices: all }
        const final = { usage, cost: 0.001 }
        const whole = await client().encode(response, final)
        const read = upstream.readWhole(JSON.parse(JSON.stringify(whole)))
        const expected = shown(gather(eventsOf(response)).choices)
        expect(shown(gather(read).choices)).toEqual(expected)
        expect(read.find((event) => event.type === 'usage')).toMatchObject({
          usage: { prompt: 9, completion: 7 },
        })

        const writer = client().createWriter()
        const events = pieces([...eventsOf(response)])
        const bytes = [...events.map((event) => writer.write([event])), await writer.end(final)]
        const parser = new EventReader(1_000_000)
        const reader = upstream.createReader()
        const streamed = [...parser.push(Buffer.concat(bytes)), parser.end()].flatMap((event) =>
          event?.data === undefined ? [] : (reader.read(event.data) ?? []),
        )
        streamed.push(...reader.end())
        expect(shown(gather(streamed).choices)).toEqual(expected)
        expect(streamed.at(-1)?.type).toBe('done')
        expect(streamed.findLast((event) => event.type === 'usage')).toMatchObject({
          usage: { prompt: 9, completion: 7 },
        })
      }),
      settings,
    )
  })
})

const question = { role: 'user', content: 'w' }
const chatTurn = ({ choices }: Json): Json => ({ messages: [question, Object(choices)[0].message] })

/** The next requests of clients, with the response that they got. */
const nextRequest: Record<ApiName, (response: Json) => Json> = {
  mistral: chatTurn,
  chat: chatTurn,
  openrouter: chatTurn,
  responses: ({ output }) => ({ input: [question, ...Object(output)] }),
  messages: ({ content }) => ({ messages: [question, { role: 'assistant', content }] }),
  gemini: ({ candidates }) => ({
    contents: [{ role: 'user', parts: [{ text: 'w' }] }, Object(candidates)[0].content],
  }),
  cohere: ({ message }) => ({ messages: [question, message] }),
}

describe('a client', () => {
  test.each(allNames)('of %s sends the thoughts of every model back to it', async (name) => {
    const { client, decode } = apis[name]
    const thought = thoughts(() => true)
    const call = callPart((feature) => feature === 'callSignature')
    const response = fc.tuple(thought, word, fc.array(call, { maxLength: 2 }))
    await fc.assert(
      fc.asyncProperty(response, async ([thinking, text, called]) => {
        const calls = called.map((one, at) => ({ ...one, id: `call_${at}` }))
        const content = [...thinking, { type: 'text' as const, text }, ...calls]
        const choices = [{ content, citations: [], logprobs: [], reason: 'stop' as const }]
        const whole = await client().encode({ id: 'r', choices }, { usage })
        const body = nextRequest[name](JSON.parse(JSON.stringify(whole)))
        const turn = decode(body).messages.at(-1)
        const parts: readonly Part[] = turn?.content ?? []
        expect(
          parts.flatMap((one) => {
            if (one.type !== 'thinking') return []
            const { id: _, ...own } = one
            return [own]
          }),
        ).toEqual(thinking)
        expect(
          parts.flatMap((one) => (one.type === 'call' ? [[one.name, one.signature]] : [])),
        ).toEqual(calls.map((one) => [one.name, one.signature]))
      }),
      settings,
    )
  })
})
