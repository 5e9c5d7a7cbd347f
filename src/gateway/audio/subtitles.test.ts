import { afterAll, expect, test } from 'bun:test'

import OpenAI, { toFile } from 'openai'

import { catchError } from '../../testing/catch-error.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'
import { toSubtitles } from './transcription-request.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const client = openAiClient(t, gus)
afterAll(() => t.close())

const model = 'demo/transcription'
const audio = () => toFile(makeWav(), 'a.wav')

test("OpenAI's client transcribes to subtitles, charged as usual", async () => {
  const file = await audio()
  const srt = await client.audio.transcriptions.create({ model, file, response_format: 'srt' })
  expect(srt).toBe('1\n00:00:00,000 --> 00:00:00,500\nA sound of 0.5 seconds.\n')
  const vtt = await client.audio.transcriptions.create({ model, file, response_format: 'vtt' })
  expect(vtt).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nA sound of 0.5 seconds.\n')
  const { body } = await gus.call('GET', '/queries/history')
  const row = { model, status: 'completed', price_in_usd: 0.000_005 }
  expect(body).toMatchObject({ total: 2, data: [row, row] })
})

test("OpenAI's client translates, and a language is refused by name", async () => {
  const file = await audio()
  expect(await client.audio.translations.create({ model, file })).toMatchObject({
    text: 'A sound of 0.5 seconds.',
    cost: 0.000_005,
  })
  const text = await client.audio.translations.create({ model, file, response_format: 'srt' })
  expect(String(text)).toStartWith('1\n00:00:00,000')
  const body = { model, file, language: 'en' }
  const error = await catchError(client.audio.translations.create(body))
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(error).toMatchObject({ param: 'language' })
})

test('subtitles have a cue for each segment, or one for a text without segments', () => {
  const segments = [
    { start: 0, end: 1.5, text: ' One\n\ntwo ' },
    { start: 3_661.25, end: 3_662, text: 'three' },
    { start: 'x', end: 2, text: 'skipped' },
  ]
  expect(toSubtitles({ text: 'One two three', segments }, 'srt', 9)).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nOne\ntwo\n\n2\n01:01:01,250 --> 01:01:02,000\nthree\n',
  )
  expect(toSubtitles({ text: 'Hello' }, 'vtt', 2.5)).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHello\n',
  )
})
