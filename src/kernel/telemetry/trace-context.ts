import { newTraceId } from '../ids.ts'

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
