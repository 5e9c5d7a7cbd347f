/** The providers of the AI SDK, whose loop calls the tool. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, isStepCount, type LanguageModel, streamText, tool } from 'ai'

import { type RoundTrip, type Target, writeFile } from './task.ts'

const roundTrip =
  (open: (target: Target) => LanguageModel): RoundTrip =>
  async (target, form, { prompt, write }) => {
    const { description, input: inputSchema } = writeFile
    const execute = (input: unknown) => Promise.resolve(write(input))
    const request = {
      model: open(target),
      maxOutputTokens: 1_000,
      prompt,
      tools: { [writeFile.name]: tool({ description, inputSchema, execute }) },
      stopWhen: isStepCount(3),
    }
    return form === 'streamed' ? streamText(request).text : (await generateText(request)).text
  }

export const openAiResponses = roundTrip(({ origin, key, model }) =>
  createOpenAI({ baseURL: `${origin}/v1`, apiKey: key })(model),
)

export const openAiCompatible = roundTrip(({ origin, key, model }) =>
  createOpenAICompatible({ name: 'berth', baseURL: `${origin}/v1`, apiKey: key })(model),
)

export const anthropic = roundTrip(({ origin, key, model }) =>
  createAnthropic({ baseURL: `${origin}/v1`, apiKey: key })(model),
)

export const google = roundTrip(({ origin, key, model }) =>
  createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: key })(model),
)

export const openRouter = roundTrip(({ origin, key, model }) =>
  createOpenRouter({ baseURL: `${origin}/api/v1`, apiKey: key })(model),
)
