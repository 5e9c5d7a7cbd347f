import { BerthError } from '../../../../sdk/typescript/src/index.ts'
import {
  clientCommand,
  type ClientFlags,
  type Connection,
  createClient,
  openConnection,
} from '../connection.ts'
import { saveKey } from '../credentials.ts'
import { CommandFailure, exitCodes, printValue } from '../terminal.ts'

interface LoginFlags extends ClientFlags {
  key?: string | true
  new?: boolean
}

export const login = clientCommand('login', 'sign in to a server and store the key of your agent')
  .argument('[url]', 'the server; default: http://localhost:3000')
  .option('--key [key]', 'use this API key; without a value, the line on stdin')
  .option('--new', 'create an agent on the server')
  .action(async (url: string | undefined, flags: LoginFlags) => {
    const connection = await openConnection(url === undefined ? flags : { server: url })
    const key = await keyFor(connection, flags)
    const { handle, credits } = await readAgent(connection.url, key)
    await saveKey(connection.url, { key, handle })
    const text = `Signed in to ${connection.url} as @${handle}.`
    await printValue({ url: connection.url, handle, credits }, text, flags.json)
  })

/** Returns the key to store. Throws CommandFailure where no flag gives one. */
async function keyFor({ url }: Connection, { key, new: isNew }: LoginFlags): Promise<string> {
  if (isNew) return (await createClient(url, undefined).agent.newAgent()).key
  const given = key === true ? (await Bun.stdin.text()).trim() : key
  if (given) return given
  throw new CommandFailure(`Give a key of ${url} with --key, or create an agent with --new.`)
}

/** Returns the agent of a key. Throws CommandFailure for an invalid one. */
async function readAgent(url: string, key: string) {
  try {
    return await createClient(url, key).agent.getMe()
  } catch (error) {
    if (!(error instanceof BerthError) || error.status !== 401) throw error
    const what = `${url} does not accept this key. Check it, or run: berth login ${url}`
    throw new CommandFailure(what, exitCodes.signInRequired)
  }
}
