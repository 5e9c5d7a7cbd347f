import type { Entity } from './entity.ts'

/** A JSON value with a status of its own, or with headers of its own. */
export class Success<Status extends number = number, Value = unknown> {
  constructor(
    readonly status: Status,
    readonly value: Value,
    readonly headers: Readonly<Record<string, string>> = {},
    /** `Set-Cookie` headers. */
    readonly cookies: readonly string[] = [],
  ) {}
}

/** A success as it is stored under an idempotency key: its value has no type here. */
export class Replay {
  constructor(readonly success: Success) {}
}

type ContentBody = string | Blob | Uint8Array | AsyncIterable<Uint8Array>

/** A text or a file, with its media type among its headers. A null body is no content. */
export class Content {
  constructor(
    readonly body: ContentBody | null,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** A file that clients revalidate by its ETag. */
export class Revalidated {
  constructor(readonly entity: Entity) {}
}

/**
 * Server-sent events, as their texts. The signal of `open` aborts when the stream ends, also by its
 * reader. An error of `open` is that of the operation.
 */
export class Events {
  constructor(readonly open: (ended: AbortSignal) => AsyncIterator<string>) {}
}

/** A connection that is a WebSocket by now. */
export class Upgraded {}

/** The outcomes that any operation may have, whatever its schemas say. */
export type Special = Replay | Content | Revalidated | Events | Upgraded

/** Returns the value of an outcome that is JSON. */
export function valueOf(outcome: unknown): unknown {
  if (outcome instanceof Replay) return outcome.success.value
  return outcome instanceof Success ? outcome.value : outcome
}

/** Returns the success of an operation that created something (201). */
export const created = <Value>(
  value: Value,
  cookies: readonly string[] = [],
): Success<201, Value> => new Success(201, value, {}, cookies)

/** Returns the success of an operation whose work goes on (202). */
export const accepted = <Value>(value: Value): Success<202, Value> => new Success(202, value)

/** Returns the success of work that is done (200), where it is stored for replays. */
export const completed = <Value>(value: Value): Success<200, Value> => new Success(200, value)

/** Returns a plain success (200) with headers of its own. */
export const withHeaders = <Value>(
  value: Value,
  headers: Readonly<Record<string, string>>,
): Success<200, Value> => new Success(200, value, headers)

/** Returns a plain success (200) that sets cookies. */
export const withCookies = <Value>(value: Value, cookies: readonly string[]): Success<200, Value> =>
  new Success(200, value, {}, cookies)

/** Returns a text of a media type. */
export const text = (type: string, content: string, headers = {}): Content =>
  new Content(content, { 'content-type': `${type}; charset=utf-8`, ...headers })

/** Returns the success that has nothing to tell (204). */
export const nothing = (): Content => new Content(null, {})

/** Returns CSV as a download. Caches must not store it, because it lists payments. */
export const csv = (name: string, content: string): Content =>
  text('text/csv', content, {
    'content-disposition': `attachment; filename="${name}.csv"`,
    'cache-control': 'no-store',
  })
