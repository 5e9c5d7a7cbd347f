/** In the order of their codes. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const timeChars = 7
const randomChars = 13

let last = 0

/** Returns a new id of a document. It sorts by time, so equal server times keep their order. */
export function newId(): string {
  last = Math.max(last + 1, Date.now())
  let time = ''
  for (let rest = last; time.length < timeChars; rest = Math.floor(rest / digits.length)) {
    time = digits.charAt(rest % digits.length) + time
  }
  const random = crypto.getRandomValues(new Uint8Array(randomChars))
  return time + Array.from(random, (byte) => digits[byte % digits.length]).join('')
}
