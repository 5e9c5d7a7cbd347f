import type { Command } from 'commander'

import {
  clientCommand,
  type ClientFlags,
  type Connection,
  connectOrJoin,
  openConnection,
} from '../connection.ts'
import {
  CommandFailure,
  inColumns,
  printLine,
  printNote,
  printValue,
  readLines,
  write,
} from '../terminal.ts'

interface ChatFlags extends ClientFlags {
  model?: string
}
type Message = { role: 'user' | 'assistant'; content: string }

export const chat = clientCommand('chat', 'chat with a model; without a message, until Ctrl-D')
  .argument('[message]', 'the message; it can also be piped in')
  .option('-m, --model <id>', 'a model of berth models; default: the first for chats')
  .action(async (message: string | undefined, flags: ChatFlags) => {
    const connection = await connectOrJoin(flags)
    const model = flags.model ?? (await firstModel(connection))
    const messages: Message[] = []
    const send = async (content: string): Promise<void> => {
      messages.push({ role: 'user', content })
      messages.push({ role: 'assistant', content: await reply(connection, model, messages, flags) })
    }
    const piped = process.stdin.isTTY ? undefined : (await Bun.stdin.text()).trim()
    const first = [message, piped].filter(Boolean).join('\n\n')
    if (first) return send(first)
    if (!process.stdin.isTTY)
      throw new CommandFailure('There is no message. Run: berth chat "Hello"')
    await printNote(`Chatting with ${model}. Ctrl-D ends the chat.`)
    for await (const line of readLines('> ')) {
      if (line.trim()) await send(line)
    }
  })

async function firstModel({ berth, url }: Connection): Promise<string> {
  const { data } = await berth.gateway.listModels({ type: 'chat' })
  // A model that builds pages answers each message with a page.
  const model = data.find(({ id }) => !id.endsWith('/builder')) ?? data[0]
  if (!model) throw new CommandFailure(`${url} has no model for chats. Ask its operator for one.`)
  return model.id
}

/** Prints a reply as it arrives, and returns it. */
async function reply(
  { berth }: Connection,
  model: string,
  messages: Message[],
  { json }: ChatFlags,
): Promise<string> {
  if (json) {
    const completion = await berth.gateway.createChatCompletion({ model, messages })
    await printLine(JSON.stringify(completion))
    return ''
  }
  let text = ''
  for await (const chunk of berth.gateway.createChatCompletion({ model, messages })) {
    const part = textOf(chunk)
    text += part
    await write(part)
  }
  await write('\n')
  return text
}

function textOf(chunk: Readonly<Record<string, unknown>>): string {
  const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
  const content: unknown = choice?.delta?.content
  return typeof content === 'string' ? content : ''
}

/** Declares `berth models`, with the commands for the models of a server's own settings. */
export const models = (ownModels: Command[]): Command =>
  ownModels.reduce((command, own) => command.addCommand(own), declareModels())

const declareModels = (): Command =>
  clientCommand('models', 'list the models of a server with their prices in USD')
    .option('--type <type>', 'chat, image, video, audio, embedding, moderation, rerank or realtime')
    .option('--json', 'print JSON')
    .action(async ({ type, ...flags }: ClientFlags & { type?: string }) => {
      const { berth } = await openConnection(flags)
      const { data } = await berth.gateway.listModels(type === undefined ? {} : { type })
      const rows = data.map(({ id, type: kind, price }) => [id, kind, priceText(price)])
      await printValue(data, inColumns([['MODEL', 'TYPE', 'PRICE IN USD'], ...rows]), flags.json)
    })

const priceText = (price: object | null | undefined): string =>
  Object.entries(price ?? {})
    .map(([unit, usd]) => `${usd} ${unit}`)
    .join(', ')
