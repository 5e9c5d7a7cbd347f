import { newTraceId } from '../ids.ts'

/** The JSON encoding of OTLP, written as text because objects cost more. */

export type AttributeValue = string | number | boolean | readonly string[]

const encodeValue = (value: AttributeValue): string => {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`
  if (typeof value === 'boolean') return `{"boolValue":${value}}`
  if (typeof value === 'number') {
    // 64-bit integers are strings in the JSON of protocol buffers.
    return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`
  }
  return `{"arrayValue":{"values":[${value.map(encodeValue).join(',')}]}}`
}

/** Attributes by name. Undefined ones are left out. */
export type Attributes = Record<string, AttributeValue | undefined>

/** Encodes attributes as key values, each with a comma before it. */
export function encodePairs(attributes: Attributes): string {
  let text = ''
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) text += `,{"key":"${name}","value":${encodeValue(value)}}`
  }
  return text
}

/** Encodes attributes as a list of key values. */
export const encodeAttributes = (attributes: Attributes): string =>
  `[${encodePairs(attributes).slice(1)}]`

/** Encodes milliseconds since 1970 as nanoseconds. */
export const encodeTime = (ms: number): string => `"${Math.round(ms * 1_000)}000"`

const spanKinds = { internal: 1, server: 2, client: 3 } as const

export interface Span {
  traceId: string
  spanId: string
  parentId: string | undefined
  /** Its name in JSON. */
  nameText: string
  kind: keyof typeof spanKinds
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt: number
  /** Its attributes, as encodePairs encodes them. */
  pairs: string
  /** The type of its error; undefined for a span that succeeded. */
  error?: string | undefined
}

export function encodeSpan(span: Span): string {
  const { traceId, spanId, parentId, nameText, kind, startedAt, endedAt, pairs, error } = span
  const parent = parentId === undefined ? '' : `"parentSpanId":"${parentId}",`
  const status =
    error === undefined ? '' : `,"status":{"code":2,"message":${JSON.stringify(error)}}`
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}",${parent}"name":${nameText},` +
    `"kind":${spanKinds[kind]},"startTimeUnixNano":${encodeTime(startedAt)},` +
    `"endTimeUnixNano":${encodeTime(endedAt)},"attributes":[${pairs.slice(1)}]${status}}`
  )
}

/** The service that sends the signals, as OpenTelemetry describes it. */
export interface Resource {
  name: string
  version: string
  /** The id of this process. */
  instance: string
}

const encodeResource = ({ name, version, instance }: Resource): string =>
  `"resource":{"attributes":${encodeAttributes({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
  })}}`

const encodeScope = ({ version }: Resource): string =>
  `"scope":{"name":"berth","version":${JSON.stringify(version)}}`

/** Encodes the request that sends spans. */
export const encodeTraces = (resource: Resource, spans: readonly string[]): string =>
  `{"resourceSpans":[{${encodeResource(resource)},"scopeSpans":[{${encodeScope(resource)},"spans":[${spans.join(',')}]}]}]}`

/** Encodes the request that sends metrics. */
export const encodeMetrics = (resource: Resource, metrics: readonly string[]): string =>
  `{"resourceMetrics":[{${encodeResource(resource)},"scopeMetrics":[{${encodeScope(resource)},"metrics":[${metrics.join(',')}]}]}]}`

/** A span, as its children and W3C Trace Context know it. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  /** The caller's span. */
  parentId: string | undefined
  /** False for a trace that is not recorded. */
  isSampled: boolean
}

const traceparent = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/
const [noTrace, noSpan] = ['0'.repeat(32), '0'.repeat(16)]

/**
 * Returns the span of a request: a child of the header `traceparent` (W3C Trace Context), else the
 * first span of a new trace. A caller that does not sample its trace decides for both.
 */
export function startSpan(header: string | null): SpanContext {
  const [, traceId, parentId, flags = '', version] = traceparent.exec(header ?? '') ?? []
  const isValid = traceId !== undefined && traceId !== noTrace && parentId !== noSpan
  const isKnown = isValid && !header?.startsWith('ff') && version !== undefined
  if (!isKnown) {
    return { traceId: newTraceId(32), spanId: newTraceId(16), parentId: undefined, isSampled: true }
  }
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId: newTraceId(16), parentId, isSampled }
}

/** Returns a child of a span, or the first span of a new trace. */
export const childOf = (parent: SpanContext | undefined): SpanContext =>
  parent ? { ...parent, spanId: newTraceId(16), parentId: parent.spanId } : startSpan(null)
