/** The script of pages that use `service`: runs after the boot script, before the page. */
import { put } from '../frame/quiet.ts'
import { shellAbove } from '../frame/shell-window.ts'
import { addStreamIterator, createAiFetch } from './ai-fetch.ts'
import { openAi } from './ai.ts'
import { type Bridge, openBridge } from './bridge.ts'
import { openControllers } from './controllers.ts'
import { openDb } from './documents.ts'
import { openFiles } from './files.ts'
import { openRooms } from './room.ts'
import { openGame, openScores } from './scores.ts'
import type { Service as Declared } from './service-types.ts'
import { openStore } from './store.ts'

const script = document.currentScript
script?.remove()
const openService = (call: Bridge) =>
  Object.freeze({
    ai: openAi(call, createAiFetch(call)),
    store: openStore(call),
    db: openDb(call),
    room: Object.freeze({ ...openRooms(call), controller: openControllers(call) }),
    scores: openScores(call),
    files: openFiles(call),
  }) satisfies Omit<Declared, 'seed' | 'challenge'>
export type Service = ReturnType<typeof openService> & ReturnType<typeof openGame>

if (script) {
  addStreamIterator()
  const known: object = Reflect.get(window, 'service')
  const call = openBridge(shellAbove(Number(script.dataset['depth'])))
  // A spread would read the game at once.
  const service = Object.defineProperties(
    { ...known, ...openService(call) },
    Object.getOwnPropertyDescriptors(openGame(call) satisfies Pick<Declared, 'seed' | 'challenge'>),
  )
  put(window, 'service', Object.freeze(service))
}
