import { expect, test } from 'bun:test'

import type { ChatRequest } from '../conversation/chat-request.ts'
import type { Model } from '../models/catalog.ts'
import { chatBodyOf } from '../openai-chat/chat-body.ts'
import { limitsOf, measureChat, outputTokensPerChoice, stopsItself } from './max-cost.ts'

const model: Model = {
  id: 'a/b',
  name: 'B',
  type: 'chat',
  ownedBy: 'a',
  inputs: ['text'],
  outputs: ['text'],
  supportsTools: false,
  contextLength: 100_000,
  maxOutput: 0,
  imageTokens: 0,
  price: undefined,
  offers: [],
}

test('a request is written as JSON once, for all models and limits of its hold', () => {
  let writes = 0
  const counted = { toJSON: () => (writes += 1) }
  const extra = { metadata: counted }
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ]
  const request = { messages, tools: [], choices: 1, sampling: {}, stop: [], extra }
  const size = measureChat(request, false)
  for (const one of [model, { ...model, maxOutput: 10 }]) {
    limitsOf(size, one)
    outputTokensPerChoice(size, one)
    stopsItself(size, one)
  }
  expect(writes).toBe(1)
  expect(chatBodyOf(request)).toBe(size.body)
})
