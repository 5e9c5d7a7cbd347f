import { field } from '../frame/messages.ts'
import { callServer, type Handler } from './receiver.ts'

/** The calls of `service.ai`. */
export const aiCalls: Record<string, Handler> = {
  async 'ai.limits'(_, call) {
    const response = await callServer(call, 'GET', '/ai')
    return field(await response.json(), 'limits')
  },
}
