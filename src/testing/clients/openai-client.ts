import OpenAI from 'openai'

import type { GatewayUser } from '../fixtures/gateway.ts'
import type { TestServer } from '../fixtures/test-server.ts'

/** Creates OpenAI's client for an account of a test server, which it calls without a socket. */
export const openAiClient = (server: Pick<TestServer, 'handle'>, { key }: GatewayUser): OpenAI =>
  new OpenAI({
    baseURL: 'http://localhost:3000/v1',
    apiKey: key,
    maxRetries: 0,
    fetch: async (url, init) => server.handle(new Request(String(url), init), '203.0.113.9'),
  })
