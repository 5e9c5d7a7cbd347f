import { startResponsesRelay } from '../../src/testing/clients/responses-relay.ts'
import type { Target } from '../../src/testing/clients/round-trips/task.ts'
import { type ClientServer, startClientServer } from '../../src/testing/clients/server.ts'
import {
  type ChatKind,
  chatKinds,
  type Form,
  modelOfKind,
  startDemoUpstreams,
} from '../../src/testing/fakes/demo-upstreams.ts'

/** The forms in which each kind of upstream answered the tool results of a client. */
export type Results = Partial<Record<ChatKind, Form[]>>

/** Runs a client with a model of a server. */
export type ClientRun = (to: Target, server: ClientServer) => Promise<void>

export const demoModel = 'demo/chat'

/**
 * Runs a client with the demo model and with a model of each kind of upstream. Throws after all of
 * them if one failed, or if no tool result reached its upstream.
 */
export async function runEveryKind(runClient: ClientRun): Promise<Results> {
  const upstreams = await startDemoUpstreams()
  const server = await startClientServer(upstreams.models)
  const [, origin = ''] = server.baseUrls
  const results: Results = {}
  const failures: unknown[] = []
  const attempt = async (model: string): Promise<void> => {
    try {
      await runClient({ origin, key: server.key, model }, server)
    } catch (error) {
      failures.push(new Error(`With ${model}:`, { cause: error }))
    }
  }
  try {
    await attempt(demoModel)
    for (const kind of chatKinds) {
      await attempt(modelOfKind(kind))
      const forms = upstreams.takeForms(kind)
      if (forms.length > 0) results[kind] = forms
      else failures.push(new Error(`No tool result reached the upstream of the kind ${kind}.`))
    }
  } finally {
    await server.stop()
    await upstreams.stop()
  }
  if (failures.length > 0) throw new AggregateError(failures, 'The client failed.')
  return results
}

/** Runs a client with a model at an upstream with the Responses API. Throws if it got a chat. */
export async function runRelayed(model: string, runClient: ClientRun): Promise<void> {
  const relay = await startResponsesRelay(model)
  const { server } = relay
  try {
    await runClient({ origin: server.baseUrls[1] ?? '', key: server.key, model }, server)
    const paths = relay.takePaths()
    if (paths.join() !== '/v1/responses') throw new Error(`The upstream was called at ${paths}.`)
  } finally {
    await relay.stop()
  }
}
