/** The fields that the bodies of errors have: those of the Agent API, or of the gateway. */
interface ErrorBody {
  error?: string | { message?: string; code?: string | null; type?: string }
  code?: string
}

/** A response that is an error. Branch by `code`. */
export class BerthError extends Error {
  override readonly name = 'BerthError'
  /** The name of the error, such as `not_enough_credits`. */
  readonly code: string

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The body with all its fields, such as `reasons` or `accepts`. */
    readonly body: unknown,
    readonly headers: Headers,
  ) {
    const { error, code } = typeof body === 'object' && body ? (body as ErrorBody) : {}
    const nested = typeof error === 'object' ? error : undefined
    super(nested?.message ?? (typeof error === 'string' ? error : `The server returned ${status}.`))
    this.code = code ?? nested?.code ?? nested?.type ?? `http_${status}`
  }

  /** The id of the request, for the operator of the server. */
  get requestId(): string | null {
    return this.headers.get('x-request-id')
  }
}
