/** The messages between an app and its shell for the calls of `service` (see bridge.ts). */

/** An app to the shell, with the port of the call. */
export interface CallRequest {
  type: 'service:call'
  /** Name of the call: "ai.chat". */
  name: string
  input: unknown
}

/** An app to the shell, over the port of a call. */
export type FromApp = { event: unknown } | { end: true }

/** The shell to an app, over the port of a call. After `result` or `error` nothing follows. */
export type FromShell =
  | { taken: true }
  | { event: unknown }
  | { result: unknown }
  | { error: { code: string; message: string } }

/** The error of a call: `code` is for programs. */
export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'ServiceError'
  }
}

/** Returns a value of an app as JSON. Throws `bad_request` for one that JSON cannot have. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    throw new CallError('bad_request', 'The data is no JSON: it has a cycle or a BigInt.')
  }
}

/** Returns the bytes of a text in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Runs what copies values of an app. Throws `bad_request` for those that no message can have. */
export function withPlainData<Result>(copy: () => Result): Result {
  try {
    return copy()
  } catch {
    const message = 'service takes plain data: no functions, promises or elements. Pass values.'
    throw new CallError('bad_request', message)
  }
}

/** As Promise.withResolvers, which older browsers lack. */
export function deferred<Value>() {
  let resolve: (value: Value) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<Value>((done, fail) => {
    resolve = done
    reject = fail
  })
  return { promise, resolve, reject }
}
