import { afterEach, beforeEach } from 'bun:test'

/** Errors that the running test printed. A test that prints an error fails. */
let printedErrors: unknown[][] = []

const print = console.error
console.error = (...args) => {
  printedErrors.push(args)
  print(...args)
}

beforeEach(() => {
  printedErrors = []
})

afterEach(() => {
  const [first] = printedErrors
  if (first) throw new Error(`the test printed an error: ${Bun.inspect(first[0])}`)
})
