import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'

/**
 * Compiles each schema once per process. Most tests start a server of their own, for which Elysia
 * compiles the same schemas again: that took longer than many tests themselves.
 */
const compile = TypeCompiler.Compile
const checks = new WeakMap<TSchema, { additional: unknown; check: TypeCheck<TSchema> }>()

Object.assign(TypeCompiler, {
  Compile(schema: TSchema, references: TSchema[] = []) {
    if (references.length > 0) return compile(schema, references)
    // Elysia forbids further fields by changing a schema, before it compiles it.
    const additional: unknown = schema.additionalProperties
    const known = checks.get(schema)
    if (known && known.additional === additional) return known.check
    const check = compile(schema)
    checks.set(schema, { additional, check })
    return check
  },
})

/**
 * Elysia collects garbage after it composed an application, to start small. A process of tests
 * starts thousands of servers and has a large heap, of which the engine knows when to collect it.
 */
Object.assign(Bun, { gc: () => 0 })
