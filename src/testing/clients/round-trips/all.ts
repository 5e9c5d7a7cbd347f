import {
  anthropic as aiAnthropic,
  google as aiGoogle,
  openAiCompatible,
  openAiResponses as aiResponses,
  openRouter as aiOpenRouter,
} from './ai-sdk.ts'
import {
  agentsChat,
  agentsResponses,
  groq,
  langChain,
  openAiChat,
  openAiResponses,
} from './openai.ts'
import { anthropic, google, openRouter } from './other-apis.ts'
import type { RoundTrip } from './task.ts'

/** The round trips of clients of package.json, by package and, where it has several, by API. */
export const roundTrips: Record<string, RoundTrip> = {
  'openai, chat': openAiChat,
  'openai, responses': openAiResponses,
  'groq-sdk': groq,
  '@langchain/openai': langChain,
  '@openai/agents, chat': agentsChat,
  '@openai/agents, responses': agentsResponses,
  '@anthropic-ai/sdk': anthropic,
  '@google/genai': google,
  '@openrouter/sdk': openRouter,
  '@ai-sdk/openai': aiResponses,
  '@ai-sdk/openai-compatible': openAiCompatible,
  '@ai-sdk/anthropic': aiAnthropic,
  '@ai-sdk/google': aiGoogle,
  '@openrouter/ai-sdk-provider': aiOpenRouter,
}
