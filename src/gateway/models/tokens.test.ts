import { expect, test } from 'bun:test'

import fc from 'fast-check'

import {
  estimatePromptTokens,
  estimateTokens,
  maxInputTokens,
  maxTokensOf,
  measurePrompt,
} from './tokens.ts'

const images = 8_000
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

test('estimates four ASCII characters, or one other character, per token', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('a')).toBe(1)
  expect(estimateTokens('Hello, world')).toBe(3)
  expect(estimateTokens('漢字かな')).toBe(4)
  expect(estimateTokens('👋')).toBe(1)
})

test('bounds the tokens of any text, even at one token per byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const most = maxInputTokens(user(text), images)
      expect(most).toBeGreaterThanOrEqual(Buffer.byteLength(text))
      expect(most).toBeGreaterThanOrEqual(estimatePromptTokens(user(text), images))
    }),
  )
})

test('counts tools, schemas and unknown fields', () => {
  const plain = maxInputTokens(user('hi'), images)
  const more = { ...user('hi'), tools: ['x'.repeat(500)], unknown: 'y'.repeat(500) }
  expect(maxInputTokens(more, images)).toBeGreaterThan(plain + 1_000)
  expect(maxInputTokens({ input: 'z'.repeat(500) }, images)).toBeGreaterThan(500)
})

test('estimates only what a model reads', () => {
  const { messages } = user('hi')
  const plain = estimatePromptTokens({ messages }, 0)
  const settings = { model: 'maker/small', stream: true, stream_options: { include_usage: true } }
  expect(estimatePromptTokens({ messages, ...settings, user: 'gus' }, 0)).toBe(plain)
  expect(estimatePromptTokens({ messages, tools: ['x'.repeat(400)] }, 0)).toBeGreaterThan(
    plain + 99,
  )
})

test('counts an image by itself, inline or by URL', () => {
  const text = { type: 'text', text: 'What is this?' }
  const inline = user([text, image(`data:image/png;base64,${'A'.repeat(1e6)}`)])
  const elsewhere = user([text, image('https://example.com/a.png'), image('https://b')])
  const without = maxInputTokens(user([text]), images)
  expect(maxInputTokens(inline, images)).toBe(without + images)
  expect(maxInputTokens(elsewhere, images)).toBe(without + 2 * images)
  expect(estimatePromptTokens(inline, 100)).toBe(estimatePromptTokens(user([text]), 0) + 100)
})

test('counts a text that resembles an image as text', () => {
  const text = `data:image/png;base64,${'A'.repeat(10_000)}`
  expect(maxInputTokens(user(text), images)).toBeGreaterThan(10_000)
  expect(maxInputTokens(user([{ type: 'text', text }]), images)).toBeGreaterThan(10_000)
  const tools = { ...user('hi'), tools: [{ ...image(text), content: [image(text)] }] }
  expect(maxInputTokens(tools, images)).toBeGreaterThan(20_000)
})

test('bounds inline audio by its bytes and other media by the window', () => {
  const data = 'A'.repeat(5_000)
  const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } }
  const videoBytes = (url: string) => ({ type: 'video_url', video_url: { url } })
  const file = (filename: string, file_data: string) => ({
    type: 'file',
    file: { filename, file_data },
  })
  const most = maxInputTokens(user([sound]), images)
  expect(most).toBeGreaterThan(5_000)
  expect(most).toBeLessThan(7_000)
  for (const part of [
    videoBytes(`data:video/mp4;base64,${data}`),
    videoBytes('https://example.com/a.mp4'),
    videoBytes('https://example.com/a.mp4?base64,'),
    file('a.pdf', 'data:application/pdf;base64,AA'),
    file('base64,', 'https://example.com/a.pdf'),
    { type: 'file', file: { file_id: 'f' } },
    { type: 'input_audio', input_audio: { file_id: 'base64,' } },
    { ...videoBytes('https://example.com/a.mp4'), input_audio: { data } },
  ]) {
    expect(maxTokensOf(measurePrompt(user([part])), images, 2_000_000)).toBe(2_000_000)
    expect(maxInputTokens(user([part]), images)).toBeGreaterThan(131_072)
    expect(maxInputTokens(user([part, sound]), images)).toBeGreaterThan(136_000)
  }
})

test('limits the bound to a known window only', () => {
  const long = user('x'.repeat(500_000))
  expect(maxTokensOf(measurePrompt(long), images, 200_000)).toBe(200_000)
  expect(maxInputTokens(long, images)).toBeGreaterThan(500_000)
})

test('counts invalid messages as text', () => {
  for (const messages of [null, 'x', [null, 7, { content: [null, 'x', {}] }]]) {
    expect(maxInputTokens({ messages }, images)).toBeGreaterThan(1_000)
  }
})
