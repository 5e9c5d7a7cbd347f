/**
 * Makes calls of a method wait. `begun` resolves at call number `times`. `go` lets all calls run.
 */
export function pauseMethod<Name extends string>(
  thing: { [name in Name]: (...given: never[]) => Promise<unknown> },
  name: Name,
  times = 1,
) {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = thing[name]
  let calls = 0
  const held = async (...given: unknown[]): Promise<unknown> => {
    calls += 1
    if (calls === times) begun.resolve()
    await gate.promise
    return Reflect.apply(work, thing, given)
  }
  Object.assign(thing, { [name]: held })
  return { begun: begun.promise, go: () => gate.resolve() }
}
