import { expect, test } from 'bun:test'

import { errorExamples as gatewayExamples } from '../gateway/error-examples.ts'
import * as gateway from '../gateway/error-response.ts'
import { ApiError, type GatewayErrorName, type HostingErrorName } from '../kernel/errors.ts'
import { saysWhatToDo } from '../kernel/text.ts'
import * as hosting from '../people/error-response.ts'
import { keysOf } from '../site/components.ts'
import { errorExamples as hostingExamples } from '../site/guide/guide.ts'

const hostingError = <N extends HostingErrorName>(name: N): ApiError<N> =>
  new ApiError<N>(name, ...hostingExamples[name])

/** Checks whether the text of a fault names the side that failed. */
const namesSide = (text: string): boolean =>
  /\b(server|operator|provider|upstream|model|guardrail|chain|payment)\b/i.test(text)

/** Every message of an error, with its status: of both APIs, and of pages. */
function listMessages(): [name: string, status: number, message: string][] {
  const ofGateway = <N extends GatewayErrorName>(name: N): [string, number, string] => {
    const { status, body } = gateway.errorEnvelope(new ApiError<N>(name, ...gatewayExamples[name]))
    return [`gateway ${name}`, status, body.error.message]
  }
  const ofHosting = (name: HostingErrorName): [string, number, string][] => {
    const { status, body } = hosting.errorEnvelope(hostingError(name))
    // The errors of OAuth have their message in a field of its own.
    const { error_description: text = body.error }: { error_description?: string; error: string } =
      body
    const onPage = hosting.describeError(hostingError(name))?.message ?? ''
    return [
      [`agent API ${name}`, status, text],
      [`page ${name}`, status, onPage],
    ]
  }
  return [
    ...keysOf(gatewayExamples).map(ofGateway),
    ...keysOf(hostingExamples).flatMap(ofHosting),
    ['internal', 500, hosting.internalErrorBody('req').error],
  ]
}

test('every error tells its reader what to do', () => {
  const without = listMessages().filter(([, , message]) => !saysWhatToDo(message))
  expect(without).toEqual([])
})

test('an error that is no fault of the request names the side that failed', () => {
  const without = listMessages().filter(([, status, text]) => status >= 500 && !namesSide(text))
  expect(without).toEqual([])
})

test('a message without a next step is noticed', () => {
  expect(saysWhatToDo('The name of the file is invalid.')).toBe(false)
  expect(saysWhatToDo('The file has no name. Rename it.')).toBe(true)
  expect(saysWhatToDo('The name is taken. Choose another.')).toBe(true)
  expect(saysWhatToDo('"title" must be one plain line.')).toBe(true)
  expect(namesSide('Something went wrong. Try again.')).toBe(false)
})
