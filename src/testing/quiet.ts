import { afterEach, beforeEach } from 'bun:test'

/** What the running test sent to console.error: a healthy house sends nothing. */
let complaints: unknown[][] = []

const print = console.error
console.error = (...said) => {
  complaints.push(said)
  print(...said)
}

beforeEach(() => {
  complaints = []
})

afterEach(() => {
  const [first] = complaints
  if (first) throw new Error(`the test printed an error: ${Bun.inspect(first[0])}`)
})
