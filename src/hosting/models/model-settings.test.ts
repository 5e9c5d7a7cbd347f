import { expect, test } from 'bun:test'

import { openTestHouse } from '../../testing/test-server.ts'
import { modelSettingWarnings } from './model-settings.ts'

const said = async (settings: Parameters<typeof openTestHouse>[0]): Promise<string[]> => {
  const { ctx, close } = await openTestHouse(settings)
  const told = modelSettingWarnings(ctx)
  await close()
  return told
}

test('what a setting names and is there, or is left out, is no word to the operator', async () => {
  expect(await said({})).toEqual([])
  expect(
    await said({ BUILDER_MODEL: 'demo/chat', PAINTER_MODEL: 'demo/image', OLLAMA_HOST: 'off' }),
  ).toEqual([])
})

test('a model of a setting that is not served, or does something else, is named', async () => {
  expect(await said({ BUILDER_MODEL: 'gpt-5', PAINTER_MODEL: 'demo/chat' })).toEqual([
    'BUILDER_MODEL is gpt-5, and no chat model with a price has that id: berth models list.',
    'PAINTER_MODEL is demo/chat, and no image model with a price has that id: berth models list.',
  ])
})

test('that nothing can build, and that an Ollama was not found, is said', async () => {
  expect(await said({ DEMO_MODELS: 'off', OLLAMA_HOST: '127.0.0.1:1' })).toEqual([
    'BUILDER_MODEL is not set: nothing is built from prompts.',
    'No Ollama answered at http://127.0.0.1:1: it is asked at the start alone.',
  ])
})

test('a browser that is not there is named, and one that is is not', async () => {
  expect(await said({ BUILDER_BROWSER: '/nowhere/chromium' })).toEqual([
    'BUILDER_BROWSER is /nowhere/chromium, and no program is there: no build is looked at.',
  ])
  expect(await said({ BUILDER_BROWSER: process.execPath })).toEqual([])
})
