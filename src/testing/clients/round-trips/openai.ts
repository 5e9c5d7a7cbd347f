/** Clients of chat completions and of responses. */
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import Groq from 'groq-sdk'
import OpenAI from 'openai'

import { type RoundTrip, type Target, writeFile } from './task.ts'

const { name, description, input, parameters } = writeFile
const definition = { type: 'function' as const, function: { name, description, parameters } }
const client = ({ origin, key }: Target) =>
  new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 })

export const openAiChat: RoundTrip = async (target, form, { prompt, write }) => {
  const { completions } = client(target).chat
  const run = { parse: JSON.parse, function: write }
  const request = {
    model: target.model,
    messages: [{ role: 'user' as const, content: prompt }],
    tools: [{ ...definition, function: { ...definition.function, ...run } }],
  }
  const runner =
    form === 'streamed'
      ? completions.runTools({ ...request, stream: true })
      : completions.runTools(request)
  return (await runner.finalContent()) ?? ''
}

export const openAiResponses: RoundTrip = async (target, form, { prompt, write }) => {
  const { responses } = client(target)
  const tools = [{ type: 'function' as const, name, description, parameters, strict: true }]
  const ask = async (
    input: OpenAI.Responses.ResponseInput,
  ): Promise<Pick<OpenAI.Responses.Response, 'output' | 'output_text'>> => {
    const request = { model: target.model, input, tools }
    return form === 'streamed'
      ? responses.stream(request).finalResponse()
      : responses.create(request)
  }
  const question = { role: 'user' as const, content: prompt }
  const { output } = await ask([question])
  const call = output.find((item) => item.type === 'function_call')
  if (!call) throw new Error('The model called no tool.')
  const result = {
    type: 'function_call_output' as const,
    call_id: call.call_id,
    output: write(call.arguments),
  }
  const items = output.filter((item) => item.type === 'reasoning' || item.type === 'function_call')
  return (await ask([question, ...items, result])).output_text
}

export const groq: RoundTrip = async ({ origin, key, model }, form, { prompt, write }) => {
  const { completions } = new Groq({ apiKey: key, baseURL: origin, maxRetries: 0 }).chat
  const ask = async (messages: Groq.Chat.ChatCompletionMessageParam[]) => {
    const request = { model, messages, tools: [definition] }
    if (form === 'plain') return (await completions.create(request)).choices[0]?.message
    const calls: Groq.Chat.ChatCompletionMessageToolCall[] = []
    let content = ''
    for await (const { choices } of await completions.create({ ...request, stream: true })) {
      const { delta } = choices[0] ?? {}
      content += delta?.content ?? ''
      for (const { index, id = '', function: part } of delta?.tool_calls ?? []) {
        const call = (calls[index] ??= {
          id,
          type: 'function',
          function: { name: '', arguments: '' },
        })
        call.function.name += part?.name ?? ''
        call.function.arguments += part?.arguments ?? ''
      }
    }
    return { content, tool_calls: calls }
  }
  const question = { role: 'user' as const, content: prompt }
  const [call] = (await ask([question]))?.tool_calls ?? []
  if (!call) throw new Error('The model called no tool.')
  const result = {
    role: 'tool' as const,
    tool_call_id: call.id,
    content: write(call.function.arguments),
  }
  const reply = await ask([question, { role: 'assistant', tool_calls: [call] }, result])
  return reply?.content ?? ''
}

export const langChain: RoundTrip = async ({ origin, key, model }, form, { prompt, write }) => {
  const chat = new ChatOpenAI({
    model,
    apiKey: key,
    maxRetries: 0,
    configuration: { baseURL: `${origin}/v1` },
  }).bindTools([{ name, description, schema: input }])
  const question = { role: 'user', content: prompt }
  const stream = async (messages: Parameters<typeof chat.stream>[0]) => {
    const chunks = await Array.fromAsync(await chat.stream(messages))
    return chunks.reduce((all, chunk) => all.concat(chunk))
  }
  const ask = form === 'streamed' ? stream : chat.invoke.bind(chat)
  const called = await ask([question])
  const [call] = called.tool_calls ?? []
  if (!call) throw new Error('The model called no tool.')
  const result = { role: 'tool', tool_call_id: call.id ?? '', content: write(call.args) }
  return (await ask([question, called, result])).text
}

const agents =
  (useResponses: boolean): RoundTrip =>
  async ({ origin, key, model }, form, { prompt, write }) => {
    const modelProvider = new OpenAIProvider({
      baseURL: `${origin}/v1`,
      apiKey: key,
      useResponses,
    })
    const execute = (given: unknown) => Promise.resolve(write(given))
    const tools = [tool({ name, description, parameters: input, execute })]
    const agent = new Agent({ name: 'Clerk', instructions: 'You write files.', model, tools })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    if (form === 'plain') return (await runner.run(agent, prompt)).finalOutput ?? ''
    const run = await runner.run(agent, prompt, { stream: true })
    await run.completed
    return run.finalOutput ?? ''
  }

export const agentsChat = agents(false)
export const agentsResponses = agents(true)
