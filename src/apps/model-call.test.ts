import { expect, test } from 'bun:test'

import { startTestServer } from '../testing/fixtures/test-server.ts'
import { modelSettingWarnings } from './model-call.ts'

const warningsFor = async (settings: Parameters<typeof startTestServer>[0]): Promise<string[]> => {
  const { ctx, close } = await startTestServer(settings)
  const warnings = modelSettingWarnings(ctx)
  await close()
  return warnings
}

test('available models and unset settings give no warning', async () => {
  expect(await warningsFor({})).toEqual([])
  expect(
    await warningsFor({
      BUILDER_MODEL: 'demo/chat',
      PAINTER_MODEL: 'demo/image',
      OLLAMA_HOST: 'off',
    }),
  ).toEqual([])
})

test('an unknown model or one of another type gives a warning', async () => {
  expect(await warningsFor({ BUILDER_MODEL: 'gpt-5', PAINTER_MODEL: 'demo/chat' })).toEqual([
    'BUILDER_MODEL is gpt-5, but no chat model with that id has a price. See: berth models list.',
    'PAINTER_MODEL is demo/chat, but no image model with that id has a price. See: berth models list.',
  ])
})

test('a missing builder model and an unreachable Ollama give warnings', async () => {
  expect(await warningsFor({ DEMO_MODELS: 'off', OLLAMA_HOST: '127.0.0.1:1' })).toEqual([
    'BUILDER_MODEL is not set. Builds from prompts are off.',
    'No Ollama server responds at http://127.0.0.1:1. Start it, then use it at /console/providers.',
  ])
})

test('a missing browser gives a warning', async () => {
  expect(await warningsFor({ BUILDER_BROWSER: '/nowhere/chromium' })).toEqual([
    'BUILDER_BROWSER is /nowhere/chromium, but that program does not exist. Builds are not previewed.',
  ])
  expect(await warningsFor({ BUILDER_BROWSER: process.execPath })).toEqual([])
})
