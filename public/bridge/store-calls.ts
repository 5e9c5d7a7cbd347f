import { openSaves, type Saves } from '../frame/kept-saves.ts'
import { field, text } from '../frame/messages.ts'
import { agree, findPlayer } from './agreement.ts'
import { bytesOf, CallError, toJson } from './protocol.ts'
import type { Call, Handler } from './receiver.ts'
import { callServer } from './server.ts'

/** As the server has it for values of a player. */
const keyCharsMax = 500
/** Bytes of a value, as the server has it, and characters of all values in this browser. */
const sizeMax = 5_242_880

/** Keys of the page around the app, such as that of the saves of a chat. */
const hiddenPrefix = 'berth:'

let opened: Promise<Saves> | undefined

/** Opens the values of a player who is not signed in. They stay in this browser, like saves. */
const localValues = ({ app }: Call): Promise<Saves> =>
  (opened ??= openSaves(`${app}/store`, sizeMax))

const entriesOf = async (call: Call): Promise<Map<string, string>> =>
  new Map((await localValues(call)).all())

/** Returns where the values of a call are: shared or own ones on the server, or in this browser. */
async function placeOf(input: unknown, call: Call): Promise<'shared' | 'own' | 'local'> {
  if (field(input, 'shared') === true) {
    await agree(call, 'shared')
    return 'shared'
  }
  return (await findPlayer(call)).isSignedIn ? 'own' : 'local'
}

function keyOf(input: unknown): string {
  const key = field(input, 'key')
  if (typeof key === 'string' && key !== '' && key.length <= keyCharsMax) return key
  throw new CallError('bad_request', `A key is a text of 1 to ${keyCharsMax} characters.`)
}

/** Returns a value as JSON. Throws `too_large`, also for what is above the limit of a request. */
function checkedJson(value: unknown): string {
  const json = toJson(value)
  const bytes = bytesOf(json)
  if (bytes <= sizeMax) return json
  const message = `This value has ${(bytes / 1_048_576).toFixed(1)} MB of JSON. The limit is 5 MB. Store less.`
  throw new CallError('too_large', message)
}

const query = (name: string, value: string): string => `?${name}=${encodeURIComponent(value)}`

/** The calls of `service.store`. */
export const storeCalls: Record<string, Handler> = {
  async 'store.get'(input, call) {
    const key = keyOf(input)
    const place = await placeOf(input, call)
    if (place === 'local') return JSON.parse((await entriesOf(call)).get(key) ?? 'null')
    try {
      const response = await callServer(call, 'GET', `/value/${place}${query('key', key)}`)
      return field(await response.json(), 'value')
    } catch (error) {
      if (error instanceof CallError && error.code === 'not_found') return null
      throw error
    }
  },
  async 'store.set'(input, call) {
    const key = keyOf(input)
    const value = field(input, 'value') ?? null
    const written = checkedJson(value)
    const place = await placeOf(input, call)
    if (place !== 'local')
      return void (await callServer(call, 'PUT', `/value/${place}`, { key, value }))
    const values = await localValues(call)
    values.change([[key, value === null ? null : written]])
    if (value === null || new Map(values.all()).get(key) === written) return undefined
    throw new CallError(
      'data_full',
      'This browser keeps 5 MB for an app. Delete some values first.',
    )
  },
  async 'store.delete'(input, call) {
    const key = keyOf(input)
    const place = await placeOf(input, call)
    if (place !== 'local') {
      const response = await callServer(call, 'DELETE', `/value/${place}${query('key', key)}`)
      return field(await response.json(), 'deleted')
    }
    const isThere = (await entriesOf(call)).has(key)
    ;(await localValues(call)).change([[key, null]])
    return isThere
  },
  async 'store.list'(input, call) {
    const prefix = text(input, 'prefix', keyCharsMax)
    const place = await placeOf(input, call)
    if (place === 'local') {
      return [...(await entriesOf(call)).keys()].filter((key) => key.startsWith(prefix)).sort()
    }
    const response = await callServer(call, 'GET', `/values/${place}${query('prefix', prefix)}`)
    const keys = field(await response.json(), 'keys')
    return [keys].flat().filter((one) => !String(one).startsWith(hiddenPrefix))
  },
}
