/** The second script of the shell, for apps that use `service`: serves their calls. */
import { SandboxHost } from '../frame/host.ts'
import { aiCalls } from './ai-calls.ts'
import { challengeCalls } from './challenge-calls.ts'
import { controllerCalls } from './controller-calls.ts'
import { dbCalls, fileCalls } from './db-calls.ts'
import { liveCalls } from './live-calls.ts'
import { type Handler, serveCalls } from './receiver.ts'
import { scoreCalls } from './score-calls.ts'
import { storeCalls } from './store-calls.ts'

const handlers: Record<string, Handler> = {
  ...aiCalls,
  ...storeCalls,
  ...dbCalls,
  ...fileCalls,
  ...liveCalls,
  ...scoreCalls,
  ...challengeCalls,
  ...controllerCalls,
}

const { at = '', frame: url = '' } = document.documentElement.dataset
const frame = document.querySelector('iframe')
if (frame) {
  const host = new SandboxHost(frame, url)
  // The main script shows why a sandbox did not load.
  host.load().catch(() => undefined)
  // The path of a preview goes on with its version.
  const [, , app = ''] = at.split('/')
  serveCalls(app, () => host.app, handlers)
}
